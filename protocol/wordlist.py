"""Two hundred and fifty-six short English words that are easy to tell apart when read aloud.

One word carries one byte.  The order is part of the protocol: words made from the same bytes must be the
same at every peer.
"""

from __future__ import annotations

from typing import Final

_LIST: Final = """
    acorn agent album alley amber anchor angle ankle apple apron arrow atlas attic aunt autumn axle
    bacon badge bagel baker bamboo banjo barn basil basket beach beaver bell berry bishop blanket bonnet
    bottle boxer bread brick bridge bronze bucket buffalo bugle butter cabin cactus camel candle canyon carpet
    carrot castle cellar cherry chess chimney cider circus clover cobra coffee comet copper coral cotton cowboy
    cradle crayon cricket crystal cuckoo cushion daisy dancer desert diamond diesel dinner doctor dolphin donkey dragon
    drummer duchess dungeon eagle easel echo eclipse elbow elephant ember engine envelope falcon farmer feather fender
    ferry fiddle finger flute forest fossil fountain fridge garden garlic gazelle ghost giant ginger giraffe glacier
    goblin gravel guitar hammer harbor harvest hazel helmet hermit honey hotel hunter iceberg igloo indigo insect
    island ivory jacket jaguar jelly jigsaw jockey jungle kayak kennel kettle kitchen knight koala ladder lagoon
    lantern laundry lemon leopard letter lizard lobster locket lumber magnet mango maple marble meadow melon mermaid
    mirror mitten monkey mountain muffin museum mustard napkin needle nephew nickel ninja noodle nugget oasis oboe
    ocean olive onion orange orchid organ otter oven oyster packet paddle panda parrot pebble pelican pencil
    pepper piano pickle pigeon pillow pirate planet pocket poodle potato pretzel puddle puppet pyramid quartz queen
    quiver rabbit radio raven ribbon riddle river robot rocket saddle salmon sandal saturn scarf shadow sheriff
    silver sister sparrow spider squirrel sugar sunset tailor teapot temple thimble tiger tomato tractor trumpet tulip
    tunnel turtle umbrella uncle valley velvet violin volcano waffle walnut whisper window wizard yogurt zebra zipper
"""

WORDS: Final[tuple[str, ...]] = tuple(_LIST.split())
