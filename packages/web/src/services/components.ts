import type { Emoji, MessageRow } from '@parley/chat';
import { type ComponentType, createContext, type ReactNode } from 'react';

/** Parts of the chat that a product may replace by its own. */
export interface Components {
  /** Message with its sender, time and buttons. */
  readonly Message: ComponentType<MessageProps>;
  /** Content of a message. */
  readonly MessageBody: ComponentType<MessageBodyProps>;
  /** Mention of a person, a group or everybody in the content of a message. */
  readonly Mention: ComponentType<MentionProps>;
  /** Block of code in the content of a message. */
  readonly CodeBlock: ComponentType<CodeBlockProps>;
  /** Picture in the content of a message. Those of other sites are drawn after a click. */
  readonly Image: ComponentType<ImageProps>;
  /** Picture of a person or an organization. */
  readonly Avatar: ComponentType<AvatarProps>;
}

export interface MessageProps {
  readonly message: MessageRow;
  /** True below another message of the same person. */
  readonly isContinued: boolean;
  /** Content, drawn by the chat or by the product's `MessageBody`. */
  readonly body: ReactNode;
  /** Null until the server has the message. */
  readonly actions: MessageActions | null;
}

/** Promises reject with a `ParleyError` if the server refuses. */
export interface MessageActions {
  /** Quotes the message in the field below; null where there is none. */
  readonly quote: (() => void) | null;
  readonly react: (emoji: Emoji, isSet: boolean) => Promise<void>;
  readonly star: (isSet: boolean) => Promise<void>;
  /** Returns the Markdown source, in which an edit begins. */
  readonly source: () => Promise<string>;
  /** `seenSha256`: hash in hex of the source; if another device has changed it since, the edit is refused. */
  readonly edit: (markdown: string, seenSha256?: string) => Promise<void>;
  readonly delete: () => Promise<void>;
  /** Marks the message and those after it as unread. */
  readonly markUnread: () => void;
  /** Opens the chat's menu beside an element. */
  readonly openMenu: (anchor: HTMLElement) => void;
  /** Opens the sender's card beside an element. */
  readonly openSender: (anchor: HTMLElement) => void;
}

export interface MessageBodyProps {
  readonly message: MessageRow;
  /** The server's HTML; words that were searched are marked. */
  readonly html: string;
}

export interface MentionProps {
  readonly kind: 'user' | 'group' | 'channel' | 'topic';
  /** Null for everybody in a channel or topic. */
  readonly id: number | null;
  /** Present name, with `@` unless the mention is silent. */
  readonly text: string;
  readonly isSilent: boolean;
  /** True if the reader or a group of theirs is mentioned. */
  readonly concernsMe: boolean;
  /** Opens the card of the person or group beside an element; null if there is none. */
  readonly open: ((anchor: HTMLElement) => void) | null;
}

export interface CodeBlockProps {
  readonly text: string;
  /** Empty if the author named none. */
  readonly language: string;
  /** Parts of the text with Pygments token classes; empty for plain text. */
  readonly tokens: readonly { readonly kind: string; readonly text: string }[];
}

export interface ImageProps {
  /** Thumbnail. */
  readonly src: string;
  /** Original. */
  readonly href: string;
  readonly title: string;
  /** Pixels of the thumbnail on screen. */
  readonly width: number;
  readonly height: number;
}

export interface AvatarProps {
  readonly url: string | null;
  readonly name: string;
  /** Pixels. */
  readonly size: number;
}

export const ComponentsContext = createContext<Partial<Components>>({});

/** Texts of a product in place of the chat's, by the English text. `{name}` stands for what the chat's text has there. */
export type HostTexts = Readonly<Record<string, string>>;
