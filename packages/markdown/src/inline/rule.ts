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
 * One rule of inline formatting. It runs over a whole text before the next one starts; what it understands it replaces by
 * a placeholder, which is opaque to the rules after it.
 */
export type InlineRule = (text: string, format: InlineContext) => string;

/** What rules work with. */
export interface InlineContext {
  readonly options: MarkdownOptions;
  readonly fileLinks: boolean;
  readonly names: NameLookup;
  readonly outcome: Outcome;
  readonly html: HtmlStash;
  readonly typesetting: Typesetting;
  readonly work: WorkBudget;
  /** Null when the realm has none. */
  readonly linkifiers: RealmLinkifiers | null;
  /** A placeholder for an element, or for text that later rules must not touch. */
  stash(content: Element | string): string;
  /** The text with the rules after this one applied: for what stands inside an element. */
  formatInside(text: string): string;
  /** The text as it was before rules put placeholders in. */
  restore(text: string): string;
}

/** Where rules find what names stand for. */
export interface NameLookup {
  userByName(name: string): MentionableUser | undefined;
  userById(id: UserId): MentionableUser | undefined;
  groupByName(name: string): MentionableGroup | undefined;
  channelByName(name: string): LinkableChannel | undefined;
  /** The image of an active custom emoji. */
  customEmojiUrl(name: string): string | undefined;
  upload(path: string): StoredUpload | undefined;
}
