import {
  aChannel,
  aMessage,
  aRealmWith,
  aUser,
  aUserOfEachRole,
  createFixture,
  FakeRenderer,
  fakeRealmUrls,
  type MemoryFixture,
} from '@parley/testkit';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { Author, MarkdownOptions, ParsedMarkdown } from '../markdown/markdown.js';
import { markdownOptions } from './render-message.js';
import { SystemMessages } from './system-messages.js';

/** Creates a fixture in which only the owner can read the vault and its topic. */
const town = () =>
  createFixture(
    aUserOfEachRole(),
    aChannel({ name: 'town', subscribers: ['owner', 'member'] }),
    aChannel({ name: 'vault', privacy: 'privateProtectedHistory', subscribers: ['owner'] }),
    aMessage({ from: 'owner', to: 'vault', topic: 'plans' }),
  );
const rendered = (fixture: MemoryFixture): readonly string[] =>
  fixture.storage.announced.flatMap(({ event }) =>
    event.type === 'message.sent' ? [event.view.message.renderedContent] : [],
  );
const noticing = (fixture: MemoryFixture, work: (board: SystemMessages, tx: Transaction) => Promise<void>) =>
  fixture.uow.write(fixture.realm.id, (tx) =>
    work(new SystemMessages(new FakeRenderer(), fakeRealmUrls, fixture.clock), tx),
  );
const authorOf = async (fixture: MemoryFixture, tx: Transaction, who: string | null): Promise<Author> => ({
  actor: who === null ? null : await tx.actors.get(fixture.caller(who)),
});

it('SystemMessages sends notices as an internal message of the notification bot', async () => {
  const fixture = await town();
  await noticing(fixture, (board, tx) =>
    board.sendDirect(tx, fixture.realm, fixture.user('member'), 'hi', { actor: null }),
  );
  const [last] = fixture.storage.announced.slice(-1);
  expect(last!.event).toMatchObject({
    view: { message: { clientName: 'Internal' }, sender: { fullName: 'Notification Bot' } },
  });
});

describe('link in a notice (markdown §12)', () => {
  const vault = (fixture: MemoryFixture) => `<p><a>#vault</a> <a>#vault&gt;plans/${fixture.messages[0]!.id}</a></p>`;

  it.each([
    ['owner', true],
    ['administrator', false],
    ['member', false],
    [null, true],
  ])('depends on the access of its author %s: %s', async (who, sees) => {
    const fixture = await town();
    const content = '#**vault** #**vault>plans**';
    await noticing(fixture, async (board, tx) => {
      const author = await authorOf(fixture, tx, who);
      await board.sendToChannel(tx, fixture.realm, {
        channel: fixture.channel('town'),
        topic: 'news',
        content,
        author,
      });
      await board.sendDirect(tx, fixture.realm, fixture.user('member'), content, author);
    });
    const html = sees ? vault(fixture) : '<p>#**vault** #**vault&gt;plans**</p>';
    expect(rendered(fixture)).toEqual([html, html]);
  });

  it('is created for the channel that the notice is about, but not for its topics', async () => {
    const fixture = await town();
    await noticing(fixture, async (board, tx) => {
      const author = { ...(await authorOf(fixture, tx, 'member')), about: [fixture.channel('vault')] };
      await board.sendDirect(tx, fixture.realm, fixture.user('member'), '#**vault** #**vault>plans**', author);
    });
    expect(rendered(fixture)).toEqual(['<p><a>#vault</a> <a>#vault&gt;plans/</a></p>']);
  });

  it.each([
    ['owner', true],
    ['member', false],
  ])('depends for a welcome message on the access of the %s instead of the author: %s', async (who, sees) => {
    const fixture = await town();
    await noticing(fixture, async (board, tx) => {
      const text = '#**vault** #**vault>plans**';
      const ahead = new FakeRenderer().parseNow(text, markdownOptions(fixture.realm, ''));
      await board.sendWelcome(tx, fixture.realm, fixture.user(who), { text, ahead });
    });
    expect(rendered(fixture).at(-1)).toBe(sees ? vault(fixture) : '<p>#**vault** #**vault&gt;plans**</p>');
  });
});

/** Records parsed texts. */
class CountingRenderer extends FakeRenderer {
  readonly parsed: string[] = [];

  override parseNow(content: string, options: MarkdownOptions): ParsedMarkdown {
    this.parsed.push(content);
    return super.parseNow(content, options);
  }
}

it('SystemMessages renders a text for several channels once unless it links to topics', async () => {
  const fixture = await createFixture(
    aUser({ name: 'hamlet' }),
    aRealmWith({}),
    ...['a', 'b', 'c'].map((name) => aChannel({ name, subscribers: ['hamlet'] })),
  );
  const renderer = new CountingRenderer();
  const board = new SystemMessages(renderer, fakeRealmUrls, fixture.clock);
  const post = (contents: readonly string[]) =>
    fixture.uow.write(fixture.realm.id, (tx) =>
      board.postAll(
        tx,
        fixture.realm,
        { actor: null },
        contents.map((content, index) => ({
          channel: fixture.channel(['a', 'b', 'c'][index]!),
          topic: 'news',
          content,
          readFor: [fixture.user('hamlet').id],
        })),
      ),
    );
  await post(['same', 'other', 'same']);
  expect(renderer.parsed).toEqual(['same', 'other']);
  renderer.parsed.length = 0;
  await post(['#**a>x**', '#**a>x**', '#**a>x**']);
  expect(renderer.parsed).toEqual(['#**a>x**', '#**a>x**', '#**a>x**']);
  const posted = fixture.storage.announced.flatMap(({ event }) => (event.type === 'message.sent' ? [event.view] : []));
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
  expect(await fixture.uow.read(fixture.realm.id, (r) => r.personal.listUnread(fixture.viewer('hamlet'), 9))).toEqual(
    [],
  );
});
