from b import nothing, thing

thing.item()  # silent
nothing()
