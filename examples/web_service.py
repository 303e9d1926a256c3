"""A web service that validates plays and draws boards; it needs the extra `web`.

python examples/web_service.py
curl "http://127.0.0.1:8080/play?id=4HPwATDgc/ABMA&dice=31&play=8/5+6/5"
curl "http://127.0.0.1:8080/board.svg?id=4HPwATDgc/ABMA" > board.svg
"""

from aiohttp import web

import fibsbot as bg


def board_of(query):
    """Return the board of the parameters `id` and `dice`. Raises ValueError, with one line of text."""
    board = bg.Board.from_id(query.get("id", ""))
    return board.roll(*map(int, query["dice"])) if query.get("dice") else board


async def play(request):
    """Answer with the board after a play, or with what is wrong with it."""
    try:
        board = board_of(request.query)
        after = board.play(request.query.get("play", ""))
    except ValueError as error:  # a text, a roll or a play that is wrong: RuleError and NotationError are such
        return web.json_response({"error": str(error)}, status=400)
    return web.json_response({"legal": len(board.plays), "id": after.id, "over": after.is_over})


async def picture(request):
    """Answer with a picture of a board."""
    try:
        svg = bg.draw(board_of(request.query), request.query.get("play")).svg
    except ValueError as error:
        raise web.HTTPBadRequest(text=str(error)) from None
    return web.Response(text=svg, content_type="image/svg+xml")


app = web.Application()
app.add_routes([web.get("/play", play), web.get("/board.svg", picture)])

if __name__ == "__main__":
    web.run_app(app, host="127.0.0.1", port=8080)
