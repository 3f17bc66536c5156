"""The strategy `thresher`: a model of links, their words and their sites, learned online."""
