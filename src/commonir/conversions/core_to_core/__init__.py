"""Operations of the core said by simpler ones of the core, for targets that have nothing of their own for them.

Whatever rules of more than one target need is here, and nothing of a target: no rule knows which one it serves. A
target lists the modules whose rules it takes, and calls what is not a rule where its own rules know when. Beside the
rules stand what they go by: how large integers can be, and which operations index notation explains.
"""
