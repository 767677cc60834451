import {
  aChannel,
  aMessage,
  aRealmWith,
  aUser,
  aUserOfEachRole,
  given,
  type MemoryScene,
  PlainRenderer,
  plainAddresses,
} from '@parley/testkit';
import type { Transaction } from '../shared/unit-of-work.js';
import type { MarkdownOptions, ParsedMarkdown } from './markdown.js';
import { NoticeBoard } from './notice-board.js';
import type { Author } from './render-message.js';

/** The vault and its topic are the owner's alone. */
const town = () =>
  given(
    aUserOfEachRole(),
    aChannel({ name: 'town', subscribers: ['owner', 'member'] }),
    aChannel({ name: 'vault', privacy: 'privateProtectedHistory', subscribers: ['owner'] }),
    aMessage({ from: 'owner', to: 'vault', topic: 'plans' }),
  );
const rendered = (scene: MemoryScene): readonly string[] =>
  scene.storage.announced.flatMap(({ event }) =>
    event.type === 'message.sent' ? [event.view.message.renderedContent] : [],
  );
const noticing = (scene: MemoryScene, work: (board: NoticeBoard, tx: Transaction) => Promise<void>) =>
  scene.uow.write((tx) => work(new NoticeBoard(new PlainRenderer(), plainAddresses, scene.clock), tx));
const authorOf = async (scene: MemoryScene, tx: Transaction, who: string | null): Promise<Author> => ({
  actor: who === null ? null : await tx.actors.get(scene.caller(who)),
});

it('a notice is from the organization itself', async () => {
  const scene = await town();
  await noticing(scene, (board, tx) => board.tell(tx, scene.realm, scene.user('member'), 'hi', { actor: null }));
  const [last] = scene.storage.announced.slice(-1);
  expect(last!.event).toMatchObject({
    view: { message: { clientName: 'Internal' }, sender: { fullName: 'Notification Bot' } },
  });
});

describe('what a notice links to (markdown §12)', () => {
  const vault = (scene: MemoryScene) => `<p><a>#vault</a> <a>#vault&gt;plans/${scene.messages[0]!.id}</a></p>`;

  it.each([
    ['owner', true],
    ['administrator', false],
    ['member', false],
    [null, true],
  ])('is what its author, %s, may read: %s', async (who, sees) => {
    const scene = await town();
    const content = '#**vault** #**vault>plans**';
    await noticing(scene, async (board, tx) => {
      const author = await authorOf(scene, tx, who);
      await board.post(tx, scene.realm, { channel: scene.channel('town'), topic: 'news', content, author });
      await board.tell(tx, scene.realm, scene.user('member'), content, author);
    });
    const html = sees ? vault(scene) : '<p>#**vault** #**vault&gt;plans**</p>';
    expect(rendered(scene)).toEqual([html, html]);
  });

  it('is also the channel that it is about, but no topic of it', async () => {
    const scene = await town();
    await noticing(scene, async (board, tx) => {
      const author = { ...(await authorOf(scene, tx, 'member')), about: [scene.channel('vault')] };
      await board.tell(tx, scene.realm, scene.user('member'), '#**vault** #**vault>plans**', author);
    });
    expect(rendered(scene)).toEqual(['<p><a>#vault</a> <a>#vault&gt;plans/</a></p>']);
  });

  it.each([
    ['owner', true],
    ['member', false],
  ])('in a welcome to the %s is what they may read, whoever wrote it: %s', async (who, sees) => {
    const scene = await town();
    await scene.add(aRealmWith({ settings: { welcomeMessageCustomText: '#**vault** #**vault>plans**' } }));
    await noticing(scene, (board, tx) => board.welcome(tx, scene.realm, scene.user(who), undefined));
    expect(rendered(scene).at(-1)).toBe(sees ? vault(scene) : '<p>#**vault** #**vault&gt;plans**</p>');
  });
});

/** Counts what it parses. */
class CountingRenderer extends PlainRenderer {
  readonly parsed: string[] = [];

  override parseNow(content: string, options: MarkdownOptions): ParsedMarkdown {
    this.parsed.push(content);
    return super.parseNow(content, options);
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
        { actor: null },
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
  await post(['#**a>x**', '#**a>x**', '#**a>x**']);
  expect(renderer.parsed).toEqual(['#**a>x**', '#**a>x**', '#**a>x**']);
  const posted = scene.storage.announced.flatMap(({ event }) => (event.type === 'message.sent' ? [event.view] : []));
  expect(
    posted.map(({ message, conversation }) => [conversation.kind === 'channel' && conversation.name, message.content]),
  ).toEqual([
    ['a', 'same'],
    ['b', 'other'],
    ['c', 'same'],
    ['a', '#**a>x**'],
    ['b', '#**a>x**'],
    ['c', '#**a>x**'],
  ]);
  expect(await scene.uow.read((r) => r.personal.listUnread(scene.viewer('hamlet'), 9))).toEqual([]);
});
