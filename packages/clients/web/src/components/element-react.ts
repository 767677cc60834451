import type { HTMLAttributes, RefAttributes } from 'react';
import type { ParleyChatAttributes, ParleyChatElement, ParleyChatEvents } from '../element/types.js';

export type * from './element.js';

/** Events of custom elements are separate props: `onparley-sent`. */
type Listeners = {
  readonly [N in keyof ParleyChatEvents as `on${N}`]?: (event: CustomEvent<ParleyChatEvents[N]>) => void;
};

type Props = HTMLAttributes<ParleyChatElement> & RefAttributes<ParleyChatElement> & ParleyChatAttributes & Listeners;

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'parley-chat': Props;
    }
  }
}
