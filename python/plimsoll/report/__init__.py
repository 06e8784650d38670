"""Reports: one module for each format, `write(findings, into)`; `formats` lists them."""
