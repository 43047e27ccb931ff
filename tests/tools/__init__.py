"""Programs for those who work on Boneyard: run by hand or by CI, never by pytest."""
