"""Problems: positions of logged games with the value of each option, and how bots answer them."""
