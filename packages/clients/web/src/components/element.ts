import type { ParleyChatElement } from '../element/types.js';

export type { ParleyChatAttributes, ParleyChatElement, ParleyChatEvents, Theme } from '../element/types.js';

declare global {
  interface HTMLElementTagNameMap {
    'parley-chat': ParleyChatElement;
  }
}
