from a import nothing, thing

thing.item()  # silent
nothing()
