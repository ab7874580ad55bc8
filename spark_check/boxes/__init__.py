"""The boxes of model.boxes as operators of Spark, where Spark has the operator."""
