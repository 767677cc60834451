import type { ParleyChatAttributes, ParleyChatElement, ParleyChatEvents } from '../element/types.js';

export type * from './element.js';

/** Attributes, and `@parley-sent` in a template. */
interface Props extends ParleyChatAttributes {
  readonly id?: string;
  readonly class?: unknown;
  readonly style?: unknown;
  readonly onParleyUnread?: (event: CustomEvent<ParleyChatEvents['parley-unread']>) => void;
  readonly onParleySent?: (event: CustomEvent<ParleyChatEvents['parley-sent']>) => void;
  readonly onParleyOpen?: (event: CustomEvent<ParleyChatEvents['parley-open']>) => void;
  readonly onParleyData?: (event: CustomEvent<ParleyChatEvents['parley-data']>) => void;
  readonly onParleyToken?: (event: CustomEvent<ParleyChatEvents['parley-token']>) => void;
  readonly onParleyPerson?: (event: CustomEvent<ParleyChatEvents['parley-person']>) => void;
}

declare module 'vue' {
  interface GlobalComponents {
    'parley-chat': new () => ParleyChatElement & { $props: Props };
  }
}
