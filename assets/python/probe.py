# Step 0: what `context` is. Shown to the model together with its output.
def _show(value, limit):
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= limit else text[:limit] + f"... [{len(text)} characters]"

if isinstance(context, str):
    print(f"context: a string of {len(context)} characters")
    if len(context) <= 1000:
        print(context)
    else:
        print("--- its first 500 characters:")
        print(context[:500])
        print("--- its last 500 characters:")
        print(context[-500:])
elif isinstance(context, dict):
    print(f"context: a dict with {len(context)} keys")
    for _key, _value in list(context.items())[:100]:
        _size = f", length {len(_value)}" if hasattr(_value, "__len__") else ""
        print(f"  {_key!r} ({type(_value).__name__}{_size}): {_show(_value, 200)}")
    if len(context) > 100:
        print(f"  ... and {len(context) - 100} more keys")
elif isinstance(context, list):
    print(f"Context type: {type(context)}, {len(context)} items")
    if context:
        print(f"  first: {type(context[0]).__name__}: {_show(context[0], 200)}")
        print(f"  last: {type(context[-1]).__name__}: {_show(context[-1], 200)}")
else:
    print(f"context: {type(context).__name__}: {_show(context, 500)}")
