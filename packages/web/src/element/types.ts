import type { HostTexts } from '../services/components.js';
import type { ElementEvents, Theme } from './place.js';

export type { ElementEvents as ParleyChatEvents, Theme } from './place.js';

/** Attributes of `<parley-chat>`. */
export interface ParleyChatAttributes {
  /** Everything, one conversation, the list of conversations, or a button with a count that opens a panel. */
  readonly view?: 'chat' | 'conversation' | 'list' | 'button';
  /** Name or id of a channel. */
  readonly channel?: string | number;
  readonly topic?: string;
  /** Ids of people, separated by commas. */
  readonly direct?: string;
  /** Language such as `de`; default: that of the page, then of the browser. */
  readonly lang?: string;
  readonly theme?: Theme;
  /** Language tag for dates and times, such as `en-GB` or `en-u-hc-h23`; default: that of the browser. */
  readonly dates?: string;
  /** Window in which links to other pages open; default: `_blank`. */
  readonly links?: '_blank' | '_self' | '_parent' | '_top';
  /** `page`: the place that is shown is part of the page's address. Default: it is not. */
  readonly address?: 'page';
}

/** Element `<parley-chat>` with its events. */
export interface ParleyChatElement extends HTMLElement {
  /** Texts of the product in place of the chat's, by the English text. */
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
