"""What is given to others: wheel and source archive, what they install, and crawl folders of earlier versions."""
