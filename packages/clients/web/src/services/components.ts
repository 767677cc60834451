import type { Emoji, MessageRow } from '@parley/chat';
import { type ComponentType, createContext, type ReactNode } from 'react';

/** Chat components that a product may replace. */
export interface Components {
  /** Message with sender, time and buttons. */
  readonly Message: ComponentType<MessageProps>;
  /** Content of a message. */
  readonly MessageBody: ComponentType<MessageBodyProps>;
  /** Mention of a person, a group or everyone in message content. */
  readonly Mention: ComponentType<MentionProps>;
  /** Code block in message content. */
  readonly CodeBlock: ComponentType<CodeBlockProps>;
  /** Image in message content. Images from other sites are rendered after a click. */
  readonly Image: ComponentType<ImageProps>;
  /** Avatar of a person or an organization. */
  readonly Avatar: ComponentType<AvatarProps>;
}

export interface MessageProps {
  readonly message: MessageRow;
  /** True if the preceding message has the same sender. */
  readonly isContinued: boolean;
  /** Content, rendered by the chat or by the product's `MessageBody`. */
  readonly body: ReactNode;
  /** Null until the server has stored the message. */
  readonly actions: MessageActions | null;
}

/** Promises reject with a `ParleyError` if the server rejects the action. */
export interface MessageActions {
  /** Quotes the message in the field below; null without a field. */
  readonly quote: (() => void) | null;
  readonly react: (emoji: Emoji, isSet: boolean) => Promise<void>;
  readonly star: (isSet: boolean) => Promise<void>;
  /** Returns the Markdown source to edit. */
  readonly source: () => Promise<string>;
  /** `seenSha256`: hex hash of the source; if another device has changed it since, the edit is rejected. */
  readonly edit: (markdown: string, seenSha256?: string) => Promise<void>;
  readonly delete: () => Promise<void>;
  /** Marks the message and all later ones as unread. */
  readonly markUnread: () => void;
  /** Opens the chat's menu next to an element. */
  readonly openMenu: (anchor: HTMLElement) => void;
  /** Opens the sender's card next to an element. */
  readonly openSender: (anchor: HTMLElement) => void;
}

export interface MessageBodyProps {
  readonly message: MessageRow;
  /** HTML from the server, with highlighted search words. */
  readonly html: string;
}

export interface MentionProps {
  readonly kind: 'user' | 'group' | 'channel' | 'topic';
  /** Null for everyone in a channel or topic. */
  readonly id: number | null;
  /** Current name, with `@` unless the mention is silent. */
  readonly text: string;
  readonly isSilent: boolean;
  /** True if the mention includes the user or their groups. */
  readonly concernsMe: boolean;
  /** Opens the card of the person or group next to an element; null if there is none. */
  readonly open: ((anchor: HTMLElement) => void) | null;
}

export interface CodeBlockProps {
  readonly text: string;
  /** Empty if the author specified none. */
  readonly language: string;
  /** Text parts with Pygments token classes; empty for plain text. */
  readonly tokens: readonly { readonly kind: string; readonly text: string }[];
}

export interface ImageProps {
  /** Thumbnail. */
  readonly src: string;
  /** Original. */
  readonly href: string;
  readonly title: string;
  /** Displayed width of the thumbnail in pixels. */
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
