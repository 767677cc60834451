import { DomainError, type GroupId, type UserId } from '@parley/domain/kernel';
import type {
  MarkdownOptions,
  MarkdownReferences,
  MarkdownRenderer,
  ParsedMarkdown,
  RenderedMarkdown,
  ResolvedNames,
  TopicLink,
} from '@parley/domain/markdown';

/** Matches `@**name**`, `@_**name|7**`, `@*group*`, `#**channel**` and `#**channel>topic**`. */
const NAMED = /@(_?)\*\*([^*]+)\*\*|@(_?)\*([^*]+)\*|#\*\*([^*>]+)(?:>([^*]+))?\*\*/g;
const CHANNEL_WILDCARDS: readonly string[] = ['all', 'everyone', 'channel', 'stream'];
const TOPIC_WILDCARD = 'topic';

interface PlainText extends ParsedMarkdown {
  readonly content: string;
}

/**
 * Escapes text into one paragraph and resolves references only by name. Topic links contain a message id:
 * `#denmark>plans/7`. Finds links to files everywhere, also in code.
 */
export class FakeRenderer implements MarkdownRenderer {
  parse(content: string, options: MarkdownOptions): Promise<ParsedMarkdown> {
    return Promise.resolve(this.parseNow(content, options));
  }

  parseNow(content: string, _options: MarkdownOptions): ParsedMarkdown {
    const userNames = new Set<string>();
    const userIds = new Set<UserId>();
    const groupNames = new Set<string>();
    const channelNames = new Set<string>();
    const topics: { channelName: string; topic: string }[] = [];
    for (const [, , user, , group, channel, topic] of content.matchAll(NAMED)) {
      const id = user && idIn(user);
      if (id) userIds.add(id);
      else if (user) userNames.add(user);
      if (group) groupNames.add(group);
      if (channel) channelNames.add(channel);
      if (channel && topic) topics.push({ channelName: channel, topic });
    }
    const none = new Set<string>();
    const references: MarkdownReferences = {
      ...{ userNames, userIds, groupNames, channelNames, topics },
      ...{ emojiNames: none, uploadPaths: uploadPathsIn(content) },
    };
    return { references, alertSegments: none, content } as PlainText;
  }

  render(parsed: ParsedMarkdown, names: ResolvedNames): RenderedMarkdown {
    const { content } = parsed as PlainText;
    const mentionedUserIds = new Set<UserId>();
    const mentionedGroupIds = new Set<GroupId>();
    let mentionsChannelWildcard = false;
    let mentionsTopicWildcard = false;
    const html = escaped(content).replace(NAMED, (typed, silentUser, userName, silentGroup, groupName, channelName) => {
      if (CHANNEL_WILDCARDS.includes(userName)) {
        if (!silentUser) mentionsChannelWildcard = true;
        return `<em>${userName}</em>`;
      }
      if (userName === TOPIC_WILDCARD) {
        if (!silentUser) mentionsTopicWildcard = true;
        return `<em>${userName}</em>`;
      }
      const id = userName && idIn(userName);
      const user = id ? names.usersById.get(id) : names.usersByName.get(userName);
      if (user) {
        if (!silentUser && user.isActive) mentionedUserIds.add(user.id);
        return `<em>${user.fullName}</em>`;
      }
      const group = names.groupsByName.get(groupName);
      if (group) {
        if (!silentGroup && group.isActive) mentionedGroupIds.add(group.id);
        return `<em>${group.displayName}</em>`;
      }
      const [name, topic] = channelName?.split('&gt;') ?? [];
      const channel = names.channelsByName.get(name ?? '');
      if (!channel) return typed;
      const newest = topic === undefined ? '' : `&gt;${topic}/${channel.newestMessageIds.get(topic) ?? ''}`;
      return `<a>#${channel.name}${newest}</a>`;
    });
    return {
      html: content === '' ? '' : `<p>${html}</p>`,
      mentionedUserIds,
      mentionedGroupIds,
      mentionsChannelWildcard,
      mentionsTopicWildcard,
      hasLink: false,
      hasImage: false,
      uploadPaths: uploadPathsIn(content),
      pendingThumbnails: new Set(),
      alertWordUserIds: new Set(),
      isMeMessage: content.startsWith('/me '),
    };
  }

  topicLinks(): readonly TopicLink[] {
    return [];
  }
}

const uploadPathsIn = (content: string): ReadonlySet<string> =>
  new Set([...content.matchAll(/\]\(\/user_uploads\/([^)\s]+)\)/g)].map(([, path]) => path!));

/** Parses the 7 in `name|7`. */
function idIn(name: string): UserId | null {
  const [, digits] = /\|(\d+)$/.exec(name) ?? [];
  return digits === undefined ? null : (Number(digits) as UserId);
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** Rejects every text as too complex, except the server's own messages inside transactions. */
export class OverwhelmedRenderer extends FakeRenderer {
  override parse(): never {
    throw new DomainError('UNRENDERABLE_CONTENT', 'Unable to render message');
  }
}

/** Options of an organization without linkifiers. */
export const MARKDOWN_OPTIONS: MarkdownOptions = {
  realmUrl: 'https://chat.example.com',
  linkifiers: [],
  defaultCodeLanguage: '',
  mediaPreviews: true,
  translateEmoticons: false,
  emptyTopicName: 'general chat',
};
