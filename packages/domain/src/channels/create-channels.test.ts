import {
  aChannel,
  aRealmWith,
  aUserOfEachRole,
  createFixture,
  FakeChannelQuota,
  FakeRenderer,
  fakeRealmUrls,
  type MemoryFixture,
} from '@parley/testkit';
import type { MarkdownOptions, ParsedMarkdown } from '../markdown/markdown.js';
import { MarkdownTextRenderer } from '../writing/render-message.js';
import { SystemMessages } from '../writing/system-messages.js';
import { type ChannelCreationContext, ChannelCreator, DEFAULT_CHANNEL_OPTIONS } from './create-channels.use-cases.js';
import { subscribeToChannels } from './subscribing.js';

/** Records which texts are parsed before and inside the transaction. */
class WatchedRenderer extends FakeRenderer {
  readonly parsedAhead: string[] = [];
  readonly parsedInside: string[] = [];

  override async parse(content: string, options: MarkdownOptions): Promise<ParsedMarkdown> {
    this.parsedAhead.push(content);
    return super.parseNow(content, options);
  }

  override parseNow(content: string, options: MarkdownOptions, _ahead?: ParsedMarkdown): ParsedMarkdown {
    this.parsedInside.push(content);
    return super.parseNow(content, options);
  }
}

/** Creates and announces channels as `member`. */
async function context(fixture: MemoryFixture, descriptions: readonly string[], privacy = DEFAULT_CHANNEL_OPTIONS) {
  const renderer = new WatchedRenderer();
  const systemMessages = new SystemMessages(renderer, fakeRealmUrls, fixture.clock);
  const renderedDescriptions = new MarkdownTextRenderer(fixture.uow, renderer, fakeRealmUrls);
  const channelCreator = new ChannelCreator(renderedDescriptions, systemMessages, new FakeChannelQuota(), {
    webPublicEnabled: true,
  });
  const parsedDescriptions = await channelCreator.parseDescriptions(fixture.realm.id, descriptions);
  const channels = await fixture.uow.write(fixture.realm.id, async (tx) => {
    const actor = await tx.actors.get(fixture.caller('member'));
    const creator = fixture.user('member');
    const now = fixture.clock.now();
    const about: ChannelCreationContext = {
      ...{ realm: fixture.realm, actor, creator, now },
      parsedDescriptions,
    };
    const wanted = descriptions.map((description, index) => ({ name: `c${index}`, description }));
    const channels = await channelCreator.add(tx, about, wanted, privacy, {});
    await subscribeToChannels(tx, { channels, userIds: [creator.id], requestedColors: new Map() });
    await channelCreator.announce(tx, about, channels, true);
    return channels;
  });
  return { channels, renderer };
}

const noticesOf = (fixture: MemoryFixture) =>
  fixture.storage.announced.flatMap(({ event }) => (event.type === 'message.sent' ? [event.view.message] : []));

describe('announcement of many channels', () => {
  it('posts one combined announcement and one notice per channel, both read by the creator', async () => {
    const fixture = await createFixture(
      aUserOfEachRole(),
      aChannel({ name: 'news', subscribers: ['member', 'owner'] }),
    );
    const news = fixture.channel('news');
    await fixture.add(aRealmWith({ settings: { newChannelAnnouncementsChannelId: news.id } }));
    const { channels } = await context(fixture, ['', 'about *b*', '']);
    const who = `@_**member|${fixture.user('member').id}**`;
    const saying = (description: string) =>
      `**Public** channel created by ${who}. **Description:**\n\`\`\`\` quote\n${description}\n\`\`\`\``;
    expect(noticesOf(fixture).map(({ channelId, topic, content }) => [channelId, topic, content])).toEqual([
      [news.id, 'new channels', `${who} created the following channels: #**c0**, #**c1**, #**c2**.`],
      [channels[0]!.id, 'channel events', saying('*No description.*')],
      [channels[1]!.id, 'channel events', saying('about *b*')],
      [channels[2]!.id, 'channel events', saying('*No description.*')],
    ]);
    const unread = (name: string) =>
      fixture.uow.read(fixture.realm.id, (r) => r.personal.listUnread(fixture.viewer(name), 9));
    expect([(await unread('member')).length, (await unread('owner')).length]).toEqual([0, 1]);
  });

  it('names the kind of each channel', async () => {
    const fixture = await createFixture(aUserOfEachRole());
    await context(fixture, ['', ''], { ...DEFAULT_CHANNEL_OPTIONS, isPrivate: true });
    expect(noticesOf(fixture).map(({ content }) => content.split('.')[0])).toEqual(
      Array(2).fill(`**Private, protected history** channel created by @_**member|${fixture.user('member').id}**`),
    );
  });

  it('parses each description once before the transaction and reuses identical notices', async () => {
    const fixture = await createFixture(aUserOfEachRole());
    const same = Array.from({ length: 150 }, () => 'same');
    const { renderer } = await context(fixture, [...same, '', 'other']);
    expect(renderer.parsedAhead).toEqual(['same', 'other']);
    // Only notices that quote the descriptions are parsed inside.
    expect(renderer.parsedInside.map((text) => /quote\n(.*)\n/.exec(text)?.[1])).toEqual([
      'same',
      '*No description.*',
      'other',
    ]);
    expect(noticesOf(fixture)).toHaveLength(152);
  });

  it('publishes every channel in order across slices', async () => {
    const fixture = await createFixture(
      aUserOfEachRole(),
      aRealmWith({ settings: { sendChannelEventsMessages: false } }),
    );
    const { channels } = await context(
      fixture,
      Array.from({ length: 205 }, () => ''),
    );
    const told = fixture.storage.announced.flatMap(({ event }) =>
      event.type === 'channel.created' ? [event.channels.map(({ name }) => name)] : [],
    );
    expect(told).toEqual(channels.map(({ name }) => [name]));
    expect(noticesOf(fixture)).toEqual([]);
  });
});
