from thresher.frontier.redis.shards import FRESH_SECONDS, Heads


def test_the_best_of_all_shards_are_asked_for():
    heads = Heads(clock=lambda: 0.0)
    heads.update([[0.9, 0.1], [0.8, 0.7], []])
    assert heads.best(3) == {0: 1, 1: 2}
    assert heads.best(3) == {0: 1}


def test_a_picture_serves_while_it_is_fresh_and_holds_enough():
    now = 0.0
    heads = Heads(clock=lambda: now)
    assert not heads.is_fresh(1)
    heads.update([[0.9, 0.1]])
    assert heads.is_fresh(2)
    assert not heads.is_fresh(3)
    now = FRESH_SECONDS
    assert not heads.is_fresh(1)
