import type { Actor } from '../access/actor.js';
import type { DomainError } from '../kernel/errors.js';
import type { ChannelId, GroupId, MessageId, RealmId, UserId } from '../kernel/ids.js';
import type { Transaction } from '../kernel/unit-of-work.js';

/**
 * Turns what people type into HTML, in two steps. `parse` needs nothing but the text, and runs before the unit of work: code
 * and formulas take time, which passes elsewhere. It names what the text refers to. The unit looks those names up in sets,
 * and `render` puts them in: synchronous and quick, whatever the text.
 */
export interface MarkdownRenderer {
  /** @throws DomainError UNRENDERABLE_CONTENT when the text cannot be rendered within its bounds of work and size. */
  parse(content: string, options: MarkdownOptions): Promise<ParsedMarkdown>;

  /**
   * The same at once, for what a unit of work says itself. There is no time for code and formulas: they are taken from the
   * text that was parsed ahead, and those that are not in it stay plain.
   * @throws DomainError UNRENDERABLE_CONTENT as `parse` does.
   */
  parseNow(content: string, options: MarkdownOptions, ahead?: ParsedMarkdown): ParsedMarkdown;

  /** May be called again on the same parsed text, with other names. @throws DomainError UNRENDERABLE_CONTENT as `parse` does. */
  render(parsed: ParsedMarkdown, names: ResolvedNames): RenderedMarkdown;

  /** The links in a topic name, by position. */
  topicLinks(topic: string, linkifiers: readonly LinkifierRule[]): readonly TopicLink[];
}

export interface TopicLink {
  readonly text: string;
  readonly url: string;
}

/** What a pattern of the organization turns into a link (organization §6.2). */
export interface LinkifierRule {
  /** In RE2 syntax, with named groups. One that does not compile never matches. */
  readonly pattern: string;
  /** An RFC 6570 template over the groups of the pattern. */
  readonly urlTemplate: string;
}

/** What parsing depends on beside the text: settings of the realm and of the sender. */
export interface MarkdownOptions {
  /** Without a slash at the end: `https://chat.example`. */
  readonly realmUrl: string;
  /** In their order of precedence. */
  readonly linkifiers: readonly LinkifierRule[];
  /** Language of fences that name none; empty for none. */
  readonly defaultCodeLanguage: string;
  /** Of images, videos and the like behind links. Off in descriptions and profile fields. */
  readonly mediaPreviews: boolean;
  /** The sender's setting; off where there is no sender. */
  readonly translateEmoticons: boolean;
  /** What stands for the empty topic in links to it. */
  readonly emptyTopicName: string;
  /** Four spaces make a code block. Off for text that came by mail. Default: true. */
  readonly indentedCode?: boolean;
}

/** The result of the first step. Opaque but for the names it refers to, and only good for the renderer that made it. */
export interface ParsedMarkdown {
  readonly references: MarkdownReferences;
  /** Of what is said in it, by which alert words are looked up: see `alertSegments`. Made when they are asked for. */
  readonly alertSegments: ReadonlySet<string>;
}

/** Every name the text might turn into a link or a mention; looking up more than these is never needed. */
export interface MarkdownReferences {
  /** As typed; a user matches whatever the letter case. */
  readonly userNames: ReadonlySet<string>;
  readonly userIds: ReadonlySet<UserId>;
  /** As typed; a group matches whatever the letter case. */
  readonly groupNames: ReadonlySet<string>;
  /** As typed, and matched exactly; those of `topics` are among them. */
  readonly channelNames: ReadonlySet<string>;
  /** Topics whose newest message the links to them name. */
  readonly topics: readonly TopicReference[];
  /** As typed between colons, without the colons; built-in names are among them, since custom emoji win. */
  readonly emojiNames: ReadonlySet<string>;
  /** What follows `/user_uploads/` in the text's links. */
  readonly uploadPaths: ReadonlySet<string>;
}

export interface TopicReference {
  readonly channelName: string;
  readonly topic: string;
}

/** What the references turned out to be. Whatever is missing renders as the text that was typed. */
export interface ResolvedNames {
  /** By name as typed. Without the users the sender may not see; of several with one name, any. */
  readonly usersByName: ReadonlyMap<string, MentionableUser>;
  /** Without the users the sender may not see. */
  readonly usersById: ReadonlyMap<UserId, MentionableUser>;
  /** By name as typed. */
  readonly groupsByName: ReadonlyMap<string, MentionableGroup>;
  /** By exact name, archived ones included; only those whose content the acting user has access to. */
  readonly channelsByName: ReadonlyMap<string, LinkableChannel>;
  /** Where the pictures of the realm's active custom emoji are, counted from its host, by name. */
  readonly customEmoji: ReadonlyMap<string, string>;
  /** By path, as in the references. */
  readonly uploads: ReadonlyMap<string, StoredUpload>;
  /** Who wants to know of which words: at least of those that the text says. In lower case. */
  readonly alertWords: ReadonlyMap<string, readonly UserId[]>;
}

/** For texts that name nothing, or nothing that is known. */
export const NOTHING_NAMED: ResolvedNames = {
  usersByName: new Map(),
  usersById: new Map(),
  groupsByName: new Map(),
  channelsByName: new Map(),
  customEmoji: new Map(),
  uploads: new Map(),
  alertWords: new Map(),
};

export interface MentionableUser {
  readonly id: UserId;
  readonly fullName: string;
  readonly isActive: boolean;
}

export interface MentionableGroup {
  readonly id: GroupId;
  /** What people read: `support`, and for a system group `Administrators`. */
  readonly displayName: string;
  readonly isActive: boolean;
}

export interface LinkableChannel {
  readonly id: ChannelId;
  readonly name: string;
  /** By topic as typed: the newest message in it that the acting user can see. */
  readonly newestMessageIds: ReadonlyMap<string, MessageId>;
}

export interface StoredUpload {
  readonly contentType: string;
  /** Null for anything that is not an image. */
  readonly image: StoredImage | null;
}

export interface StoredImage {
  /** After the rotation that its metadata asks for. */
  readonly width: number;
  readonly height: number;
  readonly isAnimated: boolean;
  /** 'none': the original is shown as it is. 'failed': nothing is shown. */
  readonly thumbnail: 'none' | 'pending' | 'failed' | ReadyThumbnail;
}

export interface ReadyThumbnail {
  /** `840x560.webp`. */
  readonly format: string;
  /** Format of a full-size copy, of an image in a type that browsers cannot show. */
  readonly transcodedFormat: string | null;
}

export interface RenderedMarkdown {
  /** Safe to show; empty when the text holds nothing to see. */
  readonly html: string;
  /** Active users mentioned aloud: neither silently nor in a quote. */
  readonly mentionedUserIds: ReadonlySet<UserId>;
  readonly mentionedGroupIds: ReadonlySet<GroupId>;
  readonly mentionsChannelWildcard: boolean;
  readonly mentionsTopicWildcard: boolean;
  readonly hasLink: boolean;
  readonly hasImage: boolean;
  /** Paths of the uploads that are linked, which claims them as attachments; quoted ones too. */
  readonly uploadPaths: ReadonlySet<string>;
  /** Those of `uploadPaths` that show a placeholder until their thumbnail is there. */
  readonly pendingThumbnails: ReadonlySet<string>;
  readonly alertWordUserIds: ReadonlySet<UserId>;
  /** `/me waves`. */
  readonly isMeMessage: boolean;
}

/** What is done with rendered HTML afterwards. Pure functions all. */
export interface RenderedMessages {
  /**
   * The HTML with the words of a search marked.
   * @param operands What was searched for, each as it was typed.
   */
  highlightContent(html: string, operands: readonly string[]): string;

  /** The topic as HTML with the words of a search marked. */
  highlightTopic(topic: string, operands: readonly string[]): string;

  /** What an edit changed, as HTML: the new version with what was inserted and what was deleted marked. */
  diff(before: string, after: string): string;

  /**
   * The HTML with images in the place of their placeholders; those that cannot be shown are left out. `uploadOf`: by path as typed;
   * null, or still pending: the placeholder stays.
   */
  showThumbnails(html: string, uploadOf: (path: string) => StoredUpload | null): string;

  /** What a notification says in plain text: spoilers stay closed. */
  plainText(html: string): string;

  /** All the text there is to find by a search. */
  searchableText(html: string): string;

  /**
   * What the words of a text are found by, each once: of a message's text and topic as of what somebody searches for. The
   * commonest words are left out.
   */
  searchTerms(text: string): readonly string[];
}

/** What searching needs of them: to find … */
export type SearchWords = Pick<RenderedMessages, 'searchableText' | 'searchTerms'>;
/** … and to show why. */
export type SearchTexts = SearchWords & Pick<RenderedMessages, 'highlightContent' | 'highlightTopic'>;

/** What people would type to say it. */

/** A mention that notifies nobody. */
export const silentMention = (user: { readonly id: UserId; readonly fullName: string }): string =>
  `@_**${user.fullName}|${user.id}**`;
export const channelLink = (channel: { readonly name: string }): string => `#**${channel.name}**`;

/** What a text was parsed into before the unit, or why it cannot be rendered, which is said in its place inside. */
export type ParsedAhead = ParsedMarkdown | DomainError;

/** Whose access decides what the names in a text turn into (markdown §11, §12). */
export interface Author {
  /** Null: nobody in particular, so every name is looked up. For texts without a word that a user typed. */
  readonly actor: Actor | null;
  /** Linked to whatever the actor may read: the channels that a notice is about. */
  readonly about?: readonly { readonly id: ChannelId }[];
}

/** A text that was parsed before the unit; an empty one is not. */
export interface ParsedText {
  readonly text: string;
  readonly parsed: ParsedAhead | null;
}

/** Renders what people write elsewhere than in messages, such as descriptions, as HTML: without previews. */
export interface TextRenderer {
  /** Before the unit. Never throws for what the text is: that is said in its turn. */
  parse(realmId: RealmId, text: string): Promise<ParsedText>;

  /** By text. */
  parseAll(realmId: RealmId, texts: readonly string[]): Promise<ReadonlyMap<string, ParsedText>>;

  /** Inside it, with what the actor may see. @throws DomainError UNRENDERABLE_CONTENT */
  render(tx: Transaction, realmId: RealmId, actor: Actor | null, text: ParsedText): Promise<string>;
}
