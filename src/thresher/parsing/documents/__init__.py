"""Documents that are not HTML, as simple HTML: PDF and DOCX in a child process, text and Markdown in the worker."""
