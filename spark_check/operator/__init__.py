"""The CEP operator as a stateful operator of Spark, and the same queries in SQL."""
