import type { Destination } from '@parley/chat';
import type { ReactNode } from 'react';
import app from '../src/app/app.module.css';
import { Page } from '../src/app/page.js';
import { channelId, type World, type WorldName } from './world.js';

/** Components in one state. */
export interface Exhibit {
  readonly name: string;
  /** Organization that they show; default: `full`. */
  readonly world?: WorldName;
  /** Height in pixels for components that fill what is around them. */
  readonly height?: number;
  /** Place that pages show, as the part of an address after `#`. */
  readonly at?: string;
  /** Brings the chat into the state, once. */
  prepare?(world: World): void;
  /** Drawn in place. */
  draw?(world: World): ReactNode;
  /** Menu, dialog or card that a button opens. */
  open?(world: World, anchor: HTMLElement): ReactNode | Promise<ReactNode>;
}

/** Page at an address, without the list of conversations. */
export const page = (name: string, at: string, world: WorldName = 'full', height = 460): Exhibit => ({
  name: `${name}${world === 'full' ? '' : `, ${world}`}`,
  world,
  at,
  height,
  draw: () => (
    <div className={app.main} style={{ height: '100%' }}>
      <Page />
    </div>
  ),
});

export const VERONA = channelId('Verona');
export const GALLERY: Extract<Destination, { kind: 'channel' }> = {
  kind: 'channel',
  channelId: VERONA,
  topic: 'gallery',
};
export const LONG_TOPIC = 'a topic whose name uses every one of the sixty characters...';
export const nothing = () => {};
export const succeed = () => Promise.resolve();
export const fail = () => Promise.reject(new Error('The reason of the server, in a sentence of usual length'));
