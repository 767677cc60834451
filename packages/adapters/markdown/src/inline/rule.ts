import type { UserId } from '@parley/domain/kernel';
import type {
  LinkableChannel,
  MarkdownOptions,
  MentionableGroup,
  MentionableUser,
  StoredUpload,
} from '@parley/domain/markdown';
import type { Outcome, WorkBudget } from '../budgets.js';
import type { Element, HtmlStash } from '../html/html.js';
import type { RealmLinkifiers } from '../links/realm-linkifiers.js';
import type { Typesetting } from '../typesetting/typesetting.js';

/**
 * Inline formatting rule. Processes a whole text before the next rule and replaces parsed content by placeholders
 * that later rules ignore.
 */
export type InlineRule = (text: string, format: InlineContext) => string;

/** Context of inline rules. */
export interface InlineContext {
  readonly options: MarkdownOptions;
  readonly fileLinks: boolean;
  readonly names: NameLookup;
  readonly outcome: Outcome;
  readonly html: HtmlStash;
  readonly typesetting: Typesetting;
  readonly work: WorkBudget;
  /** Null if the realm has none. */
  readonly linkifiers: RealmLinkifiers | null;
  /** Returns a placeholder for an element or for text that later rules must not change. */
  stash(content: Element | string): string;
  /** Formats content of an element with the rules after the current one. */
  formatInside(text: string): string;
  /** Returns the source text without placeholders. */
  restore(text: string): string;
}

/** Resolves names. */
export interface NameLookup {
  userByName(name: string): MentionableUser | undefined;
  userById(id: UserId): MentionableUser | undefined;
  groupByName(name: string): MentionableGroup | undefined;
  channelByName(name: string): LinkableChannel | undefined;
  /** Returns the image of an active custom emoji. */
  customEmojiUrl(name: string): string | undefined;
  upload(path: string): StoredUpload | undefined;
}
