"""Process pairs: what the families with a secondary beside each primary share.

Theory of operation (Hwang et al., Sections 2 and 5):

1. An operator that may crash is deployed twice: the primary A, and its secondary A'.
2. The two replicas watch each other.  When one goes down, the other receives the notice `Lost`.
3. A producer numbers its outputs from 1.  It keeps each output in its output queue, and sends it.
4. A consumer knows one producer for each input.  It discards the tuples that it has received.
5. A consumer acknowledges when a timer runs out: the tuples that it has received, and those that
   it needs no more.  A producer lets go of the outputs that no reader needs (`Ack`).
6. A secondary that receives `Lost` takes over: it leads from now on.
7. It presents itself to each reader with `Begin`: its next tuple has the number after `start`.
8. If it asks, each reader answers with the number of the last tuple that it has (`Last`), and the
   new primary sends each reader what comes after that.
9. It asks each producer above for the stream (`Connect`).  The producer answers with `Begin`, and
   sends again the tuples that it keeps.
10. A consumer that knows a new producer refuses the late tuples of the old one, if it may.
11. A crashed replica comes back as the secondary, and reports to the primary (`Rejoined`).
12. A primary that was taken for dead learns that the other one leads (`Deposed`), and begins anew
    as the secondary.
13. Where outputs wait for determinants, the primary reports the order of its inputs
    (`Determinant`), and the secondary reports the outputs whose determinants it has (`Logged`).

Each family decides what its secondary holds, from when it goes on, and when an output may leave.
"""
