import type { Destination } from '@parley/chat';
import type { HostTexts, ShownData } from '../services/element-types.js';

export type { ElementEvents as ParleyChatEvents };

/** Colors; without a scheme or contrast, the system's preference applies. */
export type Theme = 'light' | 'dark' | 'high-contrast' | 'light high-contrast' | 'dark high-contrast';

/** Events of the element and their `detail`. */
export interface ElementEvents {
  /** Unread count of the conversation selected by the attributes, or of all conversations. */
  readonly 'parley-unread': { readonly count: number };
  /** The user wrote a message; it is sent now or once there is a connection. */
  readonly 'parley-sent': { readonly destination: Destination; readonly content: string };
  /** The user followed a chat link. `preventDefault()` prevents navigation. */
  readonly 'parley-open': { readonly address: string };
  /** An object with data of your application is shown, or its data changed. Elements with this `slot` appear there. */
  readonly 'parley-data': ShownData;
  /** The token expired or was rejected: set another one as attribute `token` within ten seconds. */
  readonly 'parley-token': null;
  /** The user clicked the name or avatar of a person. `preventDefault()` keeps the chat's card closed. */
  readonly 'parley-person': { readonly userId: number };
}

/** Attributes of `<parley-chat>`. */
export interface ParleyChatAttributes {
  /** Whole chat, one conversation, the conversation list, or a button with a count that opens a panel. */
  readonly view?: 'chat' | 'conversation' | 'list' | 'button';
  /** Name or id of a channel. */
  readonly channel?: string | number;
  readonly topic?: string;
  /** User ids, separated by commas. */
  readonly direct?: string;
  /** Language such as `de`; default: the page's, then the browser's. */
  readonly lang?: string;
  readonly theme?: Theme;
  /** Language tag for dates and times, such as `en-GB` or `en-u-hc-h23`; default: the browser's. */
  readonly dates?: string;
  /** Link target for external pages; default: `_blank`. */
  readonly links?: '_blank' | '_self' | '_parent' | '_top';
  /** `page`: the current place is part of the page's address. Default: it is not. */
  readonly address?: 'page';
  /** `enter`: Enter sends, and Shift+Enter starts a line. Default: the reader's setting. */
  readonly sends?: 'enter';
  /** `simple`: files, emoji and sending, without formatting, snippets, calls and drafts. Default: all tools. */
  readonly tools?: 'simple';
  /** Token with which the element acts instead of the log-in; see `parley.tokens`. */
  readonly token?: string;
  /** Address of your application that starts or finds the visitor, and responds with `{ channel, topic? }`. */
  readonly visitor?: string;
  /** Further objects with reported data of your application: the opened channel, and senders. */
  readonly data?: 'channel' | 'user' | 'channel user';
}

/** Element `<parley-chat>` with its events. */
export interface ParleyChatElement extends HTMLElement {
  /** Replacement texts of the product, by the English text. */
  texts: HostTexts;
  addEventListener<N extends keyof ElementEvents>(
    name: N,
    listener: (this: ParleyChatElement, event: CustomEvent<ElementEvents[N]>) => void,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener<N extends keyof HTMLElementEventMap>(
    name: N,
    listener: (this: ParleyChatElement, event: HTMLElementEventMap[N]) => void,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(
    name: string,
    listener: EventListenerOrEventListenerObject,
    options?: boolean | AddEventListenerOptions,
  ): void;
}
