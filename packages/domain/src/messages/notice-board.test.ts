import { aChannel, aRealmWith, aUser, given, PlainRenderer, plainAddresses } from '@parley/testkit';
import type { MarkdownOptions, ParsedMarkdown } from './markdown.js';
import { NoticeBoard } from './notice-board.js';

/** Counts what it parses; a text with `#` in it links to a topic. */
class CountingRenderer extends PlainRenderer {
  readonly parsed: string[] = [];

  override parse(content: string, options: MarkdownOptions): ParsedMarkdown {
    this.parsed.push(content);
    const { references, ...parsed } = super.parse(content, options);
    const topics = content.includes('#') ? [{ channelName: 'a', topic: 'x' }] : [];
    return { ...parsed, references: { ...references, topics } };
  }
}

it('makes a text that goes to several channels into a message once, unless it links to topics', async () => {
  const scene = await given(
    aUser({ name: 'hamlet' }),
    aRealmWith({}),
    ...['a', 'b', 'c'].map((name) => aChannel({ name, subscribers: ['hamlet'] })),
  );
  const renderer = new CountingRenderer();
  const board = new NoticeBoard(renderer, plainAddresses, scene.clock);
  const post = (contents: readonly string[]) =>
    scene.uow.write((tx) =>
      board.postAll(
        tx,
        scene.realm,
        contents.map((content, index) => ({
          channel: scene.channel(['a', 'b', 'c'][index]!),
          topic: 'news',
          content,
          readFor: [scene.user('hamlet').id],
        })),
      ),
    );
  await post(['same', 'other', 'same']);
  expect(renderer.parsed).toEqual(['same', 'other']);
  renderer.parsed.length = 0;
  await post(['#a', '#a', '#a']);
  expect(renderer.parsed).toEqual(['#a', '#a', '#a']);
  const posted = scene.storage.announced.flatMap(({ event }) => (event.type === 'message.sent' ? [event.view] : []));
  expect(
    posted.map(({ message, conversation }) => [conversation.kind === 'channel' && conversation.name, message.content]),
  ).toEqual([
    ['a', 'same'],
    ['b', 'other'],
    ['c', 'same'],
    ['a', '#a'],
    ['b', '#a'],
    ['c', '#a'],
  ]);
  expect(await scene.uow.read((r) => r.personal.listUnread(scene.viewer('hamlet'), 9))).toEqual([]);
});
