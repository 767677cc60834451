import {
  aChannel,
  aRealmWith,
  aUserOfEachRole,
  given,
  type MemoryScene,
  PlainChannelQuota,
  PlainRenderer,
  plainAddresses,
} from '@parley/testkit';
import type { MarkdownOptions, ParsedMarkdown } from '../messages/markdown.js';
import { NoticeBoard } from '../messages/notice-board.js';
import type { Transaction } from '../shared/unit-of-work.js';
import { type ChannelFounding, ChannelFoundry, PLAIN_CHANNEL } from './create-channels.js';
import { followChannels } from './follow-channels.js';

/** Knows which texts it was given before the unit, and which ones inside it. */
class WatchedRenderer extends PlainRenderer {
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

/** Made by `member` and announced; how often the unit offered to let others have their turn is counted. */
async function founding(scene: MemoryScene, descriptions: readonly string[], privacy = PLAIN_CHANNEL) {
  const renderer = new WatchedRenderer();
  const notices = new NoticeBoard(renderer, plainAddresses, scene.clock);
  const foundry = new ChannelFoundry(renderer, plainAddresses, notices, new PlainChannelQuota());
  const parsedDescriptions = await foundry.parseDescriptions(scene.uow, scene.realm.id, descriptions);
  let turns = 0;
  const channels = await scene.uow.write(async (inner) => {
    const tx: Transaction = { ...inner, yield: async () => void turns++ };
    const actor = await tx.actors.get(scene.caller('member'));
    const creator = scene.user('member');
    const now = scene.clock.now();
    const about: ChannelFounding = {
      ...{ realm: scene.realm, actor, creator, now },
      ...{ webPublicEnabled: true, parsedDescriptions },
    };
    const wanted = descriptions.map((description, index) => ({ name: `c${index}`, description }));
    const channels = await foundry.found(tx, about, wanted, privacy, {});
    await followChannels(tx, { channels, userIds: [creator.id], requestedColors: new Map() });
    await foundry.announce(tx, about, channels, true);
    return channels;
  });
  return { channels, turns, renderer };
}

const noticesOf = (scene: MemoryScene) =>
  scene.storage.announced.flatMap(({ event }) => (event.type === 'message.sent' ? [event.view.message] : []));

describe('announcing many channels', () => {
  it('puts one notice about all of them where the organization wants it, and one into each, read by their creator', async () => {
    const scene = await given(aUserOfEachRole(), aChannel({ name: 'news', subscribers: ['member', 'owner'] }));
    const news = scene.channel('news');
    await scene.add(aRealmWith({ settings: { newChannelAnnouncementsChannelId: news.id } }));
    const { channels } = await founding(scene, ['', 'about *b*', '']);
    const who = `@_**member|${scene.user('member').id}**`;
    const saying = (description: string) =>
      `**Public** channel created by ${who}. **Description:**\n\`\`\`\` quote\n${description}\n\`\`\`\``;
    expect(noticesOf(scene).map(({ channelId, topic, content }) => [channelId, topic, content])).toEqual([
      [news.id, 'new channels', `${who} created the following channels: #**c0**, #**c1**, #**c2**.`],
      [channels[0]!.id, 'channel events', saying('*No description.*')],
      [channels[1]!.id, 'channel events', saying('about *b*')],
      [channels[2]!.id, 'channel events', saying('*No description.*')],
    ]);
    const unread = (name: string) => scene.uow.read((r) => r.personal.listUnread(scene.viewer(name), 9));
    expect([(await unread('member')).length, (await unread('owner')).length]).toEqual([0, 1]);
  });

  it('says what kind of channel each is', async () => {
    const scene = await given(aUserOfEachRole());
    await founding(scene, ['', ''], { ...PLAIN_CHANNEL, isPrivate: true });
    expect(noticesOf(scene).map(({ content }) => content.split('.')[0])).toEqual(
      Array(2).fill(`**Private, protected history** channel created by @_**member|${scene.user('member').id}**`),
    );
  });

  it('parses descriptions before the unit, each once, and makes one notice for all that say the same', async () => {
    const scene = await given(aUserOfEachRole());
    const same = Array.from({ length: 150 }, () => 'same');
    const { renderer, turns } = await founding(scene, [...same, '', 'other']);
    expect(renderer.parsedAhead).toEqual(['same', 'other']);
    // The notices alone, which quote them.
    expect(renderer.parsedInside.map((text) => /quote\n(.*)\n/.exec(text)?.[1])).toEqual([
      'same',
      '*No description.*',
      'other',
    ]);
    expect(noticesOf(scene)).toHaveLength(152);
    // At each channel that is made, told of, and given its first message.
    expect(turns).toBeGreaterThanOrEqual(3 * 152);
  });

  it('tells of each of them, in order, however many slices that takes', async () => {
    const scene = await given(aUserOfEachRole(), aRealmWith({ settings: { sendChannelEventsMessages: false } }));
    const { channels } = await founding(
      scene,
      Array.from({ length: 205 }, () => ''),
    );
    const told = scene.storage.announced.flatMap(({ event }) =>
      event.type === 'channel.created' ? [event.channels.map(({ name }) => name)] : [],
    );
    expect(told).toEqual(channels.map(({ name }) => [name]));
    expect(noticesOf(scene)).toEqual([]);
  });
});
