import type { Actor } from '../access/actor.js';
import type { Role } from '../access/roles.js';
import type { DomainError } from '../kernel/errors.js';
import type { ChannelId, GroupId, MessageId, RealmId, UserId } from '../kernel/ids.js';
import type { Transaction } from '../kernel/unit-of-work.js';

/**
 * Converts Markdown to HTML in two steps. `parse` needs only the text, may take time for code and formulas, and runs
 * before the unit of work. It returns the names the text refers to, which the unit looks up in batches. `render`
 * inserts them synchronously and fast.
 */
export interface MarkdownRenderer {
  /** @throws DomainError UNRENDERABLE_CONTENT if the text exceeds the limits on work or size. */
  parse(content: string, options: MarkdownOptions): Promise<ParsedMarkdown>;

  /**
   * Parses synchronously, for texts created inside a unit of work. Code and formulas are copied from `ahead` and
   * otherwise stay plain.
   * @throws DomainError UNRENDERABLE_CONTENT as `parse` does.
   */
  parseNow(content: string, options: MarkdownOptions, ahead?: ParsedMarkdown): ParsedMarkdown;

  /**
   * Renders parsed text; may be repeated with different names. @throws DomainError UNRENDERABLE_CONTENT as `parse`
   * does.
   */
  render(parsed: ParsedMarkdown, names: ResolvedNames): RenderedMarkdown;

  /** Returns the links in a topic name, by position. */
  topicLinks(topic: string, linkifiers: readonly LinkifierRule[]): readonly TopicLink[];
}

export interface TopicLink {
  readonly text: string;
  readonly url: string;
}

/** Linkifier of a realm (organization §6.2). */
export interface LinkifierRule {
  /** RE2 pattern with named groups. A pattern that does not compile never matches. */
  readonly pattern: string;
  /** RFC 6570 template with the groups of the pattern. */
  readonly urlTemplate: string;
}

/** Settings of the realm and the sender that affect parsing. */
export interface MarkdownOptions {
  /** Realm URL without a trailing slash, such as `https://chat.example`. */
  readonly realmUrl: string;
  /** Sorted by precedence. */
  readonly linkifiers: readonly LinkifierRule[];
  /** Default language of code blocks; empty if there is none. */
  readonly defaultCodeLanguage: string;
  /** True to embed linked images, videos and similar. Off in descriptions and profile fields. */
  readonly mediaPreviews: boolean;
  /** Setting of the sender; false if there is no sender. */
  readonly translateEmoticons: boolean;
  /** Display name of the empty topic in links. */
  readonly emptyTopicName: string;
  /** True if four spaces start a code block. Off for incoming email. Default: true. */
  readonly indentedCode?: boolean;
}

/** Result of `parse`. Opaque except for its references, and valid only for the renderer that created it. */
export interface ParsedMarkdown {
  readonly references: MarkdownReferences;
  /** Segments for looking up alert words, see `alertSegments`. Computed lazily. */
  readonly alertSegments: ReadonlySet<string>;
}

/** All names that could become a link or a mention. `render` never needs any others. */
export interface MarkdownReferences {
  /** Names as typed; users are matched case-insensitively. */
  readonly userNames: ReadonlySet<string>;
  readonly userIds: ReadonlySet<UserId>;
  /** Names as typed; groups are matched case-insensitively. */
  readonly groupNames: ReadonlySet<string>;
  /** Names as typed, matched exactly. Includes the channels in `topics`. */
  readonly channelNames: ReadonlySet<string>;
  /** Linked topics; each link contains the id of the newest message. */
  readonly topics: readonly TopicReference[];
  /** Names as typed, without colons. Includes built-in names, since custom emoji take precedence. */
  readonly emojiNames: ReadonlySet<string>;
  /** Paths after `/user_uploads/` in links of the text. */
  readonly uploadPaths: ReadonlySet<string>;
}

export interface TopicReference {
  readonly channelName: string;
  readonly topic: string;
}

/** Resolved references. Anything missing renders as the typed text. */
export interface ResolvedNames {
  /**
   * Keyed by name as typed. Omits users hidden from the sender. If several users share a name, it contains any one of
   * them.
   */
  readonly usersByName: ReadonlyMap<string, MentionableUser>;
  /** Omits users hidden from the sender. */
  readonly usersById: ReadonlyMap<UserId, MentionableUser>;
  /** Keyed by name as typed. */
  readonly groupsByName: ReadonlyMap<string, MentionableGroup>;
  /**
   * Keyed by exact name, including archived channels. Contains only channels with content that the acting user can
   * read.
   */
  readonly channelsByName: ReadonlyMap<string, LinkableChannel>;
  /** Image paths of the realm's active custom emoji relative to its host, keyed by name. */
  readonly customEmoji: ReadonlyMap<string, string>;
  /** Keyed by path as in the references. */
  readonly uploads: ReadonlyMap<string, StoredUpload>;
  /** Users by alert word in lower case; contains at least the words in the text. */
  readonly alertWords: ReadonlyMap<string, readonly UserId[]>;
}

/** Names for texts without resolvable references. */
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
  /** Displayed name, such as `support`; for a system group, for example `Administrators`. */
  readonly displayName: string;
  readonly isActive: boolean;
}

export interface LinkableChannel {
  readonly id: ChannelId;
  readonly name: string;
  /** Newest message visible to the acting user, keyed by topic as typed. */
  readonly newestMessageIds: ReadonlyMap<string, MessageId>;
}

export interface StoredUpload {
  readonly contentType: string;
  /** Null if the file is not an image. */
  readonly image: StoredImage | null;
}

export interface StoredImage {
  /** Width after applying the rotation from the metadata. */
  readonly width: number;
  readonly height: number;
  readonly isAnimated: boolean;
  /** 'none': the original is shown. 'failed': nothing is shown. */
  readonly thumbnail: 'none' | 'pending' | 'failed' | ReadyThumbnail;
}

export interface ReadyThumbnail {
  /** For example, `840x560.webp`. */
  readonly format: string;
  /** Format of a full-size copy if browsers cannot display the original; else null. */
  readonly transcodedFormat: string | null;
}

export interface RenderedMarkdown {
  /** Sanitized HTML; empty if the text has no visible content. */
  readonly html: string;
  /** Active users with a non-silent mention outside quotes. */
  readonly mentionedUserIds: ReadonlySet<UserId>;
  readonly mentionedGroupIds: ReadonlySet<GroupId>;
  readonly mentionsChannelWildcard: boolean;
  readonly mentionsTopicWildcard: boolean;
  readonly hasLink: boolean;
  readonly hasImage: boolean;
  /** Linked upload paths, including quoted ones, which become attachments. */
  readonly uploadPaths: ReadonlySet<string>;
  /** Paths in `uploadPaths` that show a placeholder until the thumbnail is ready. */
  readonly pendingThumbnails: ReadonlySet<string>;
  readonly alertWordUserIds: ReadonlySet<UserId>;
  /** True for `/me` messages such as `/me waves`. */
  readonly isMeMessage: boolean;
}

/** Pure functions that process rendered HTML. */
export interface RenderedMessages {
  /**
   * Returns the HTML with search matches highlighted.
   * @param operands Search operands as typed.
   * @param fileLinks Terms of links to highlight entirely; see `uploadTerm`.
   */
  highlightContent(html: string, operands: readonly string[], fileLinks?: readonly string[]): string;

  /** Returns the topic as HTML with search matches highlighted. */
  highlightTopic(topic: string, operands: readonly string[]): string;

  /** Returns the new version as HTML with insertions and deletions marked. */
  diff(before: string, after: string): string;

  /**
   * Replaces placeholders with images and drops images that failed. A placeholder stays if `uploadOf`, keyed by path as
   * typed, returns null or a pending upload.
   */
  showThumbnails(html: string, uploadOf: (path: string) => StoredUpload | null): string;

  /**
   * Returns distinct addresses of links to other sites that can have a preview of the page, in order. Omits links in
   * quotes, and links to images and videos. Empty if the message has too many links for previews.
   */
  previewableLinks(html: string, realmUrl: string): readonly string[];

  /** Adds previews of pages, keyed by link address. Their pictures are paths of this server. */
  showPreviews(html: string, previews: ReadonlyMap<string, PagePreview>): string;

  /** Returns plain text for notifications; omits previews of pages, and spoilers stay hidden. */
  plainText(html: string): string;

  /** Returns all searchable text; omits previews of pages. */
  searchableText(html: string): string;

  /**
   * Returns the distinct terms of a message's text or topic. Omits stop words, and may omit terms that are none of `wanted`.
   */
  searchTerms(text: string, wanted?: readonly SearchedTerm[]): readonly string[];

  /** Returns the distinct words of a query, of more than may be searched for only the first ones. Omits stop words. A word at the end of the text may be unfinished. */
  searchedWords(text: string): readonly SearchedWord[];

  /** Returns the words of a query that may be misspelled, in order. */
  typedWords(text: string): readonly TypedWord[];

  /** Returns a function that finds the words of a query in a text, in the order of the query. */
  occurrences(query: string): (text: string) => readonly WordOccurrences[];

  /** Returns the search functions with word forms in the languages of an organization. @param codes `searchLanguages` */
  inLanguages(codes: string): SearchTexts;
}

/** Preview of a web page (markdown §15.6). */
export interface PagePreview {
  readonly title: string | null;
  readonly description: string | null;
  /** URL of a picture. */
  readonly picture: string | null;
}

/** Occurrences of a query's word in a text. */
export interface WordOccurrences {
  /** Number of occurrences in the form in which the word was typed. */
  readonly asTyped: number;
  /** First positions of the word in any form. */
  readonly positions: readonly number[];
}

/** Word of a query that may be misspelled. */
export interface TypedWord {
  /** Position in the query. */
  readonly start: number;
  readonly word: string;
  readonly searched: SearchedWord;
  /** Sets of words with nearly the same letters, the most similar ones first. */
  readonly similar: readonly SimilarWords[];
}

/** Words with nearly the same letters as another word. */
export interface SimilarWords {
  /** Finds texts that may contain one of them. */
  searched(): SearchedWord;
  /** Returns those of a text without duplicates, in lower case. */
  wordsIn(text: string): readonly string[];
}

/** Term of a text, or the beginning of a term. */
export type SearchedTerm = string | { readonly beginning: string };

/** Searched word: lists of alternative terms. A text contains the word if it has a term of each list. */
export type SearchedWord = readonly (readonly SearchedTerm[])[];

/** Functions for matching searches. */
export type SearchWords = Pick<RenderedMessages, 'searchableText' | 'searchTerms' | 'searchedWords' | 'inLanguages'>;
/** Functions for matching searches and highlighting the results. */
export type SearchTexts = SearchWords &
  Pick<RenderedMessages, 'highlightContent' | 'highlightTopic' | 'typedWords' | 'occurrences'>;

/** Functions that format Markdown syntax as users would type it. */

/** Returns a mention without notification. */
export const silentMention = (user: { readonly id: UserId; readonly fullName: string }): string =>
  `@_**${user.fullName}|${user.id}**`;
export const channelLink = (channel: { readonly name: string }): string => `#**${channel.name}**`;

/** Parsed text, or the error to throw when the unit of work renders it. */
export type ParsedAhead = ParsedMarkdown | DomainError;

/** Author with the access that determines how names resolve (markdown §11, §12). */
export interface Author {
  /** Null resolves every name; use it only for texts without user input. */
  readonly actor: Actor | null;
  /** Channels a notice is about, linked regardless of the actor's access. */
  readonly about?: readonly { readonly id: ChannelId }[];
  /**
   * Present for texts of agents, which mention only the people it returns, and neither mention groups nor describe
   * files.
   */
  readonly mentionable?: (
    people: readonly { readonly id: UserId; readonly role: Role }[],
  ) => Promise<ReadonlySet<UserId>>;
}

/** Text parsed before the unit of work; an empty text stays unparsed. */
export interface ParsedText {
  readonly text: string;
  readonly parsed: ParsedAhead | null;
}

/** Renders texts other than messages, such as descriptions, as HTML without previews. */
export interface TextRenderer {
  /** Runs before the unit of work. Never throws for invalid text; `render` does. */
  parse(realmId: RealmId, text: string): Promise<ParsedText>;

  /** Returns the parsed texts keyed by text. */
  parseAll(realmId: RealmId, texts: readonly string[]): Promise<ReadonlyMap<string, ParsedText>>;

  /** Renders inside the unit of work with the actor's access. @throws DomainError UNRENDERABLE_CONTENT */
  render(tx: Transaction, realmId: RealmId, actor: Actor | null, text: ParsedText): Promise<string>;
}
