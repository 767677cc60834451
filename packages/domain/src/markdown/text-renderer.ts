import type { Actor } from '../access/actor.js';
import type { DomainError } from '../kernel/errors.js';
import type { ChannelId, RealmId } from '../kernel/ids.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { ParsedMarkdown } from './markdown.js';

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
