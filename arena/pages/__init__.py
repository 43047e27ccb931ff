"""Pages: one self-contained HTML file each, that loads nothing and can be mailed."""
