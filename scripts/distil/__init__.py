"""How the token table inside the wheel is made. Nothing here is imported at run time."""
