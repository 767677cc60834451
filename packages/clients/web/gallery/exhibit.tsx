import type { Destination } from '@parley/chat';
import type { ReactNode } from 'react';
import app from '../src/app/app.module.css';
import { Page } from '../src/app/page.js';
import { channelId, type World, type WorldName } from './world.js';

/** Components in one state. */
export interface Exhibit {
  readonly name: string;
  /** Organization to show; default: `full`. */
  readonly world?: WorldName;
  /** Height in pixels for components that fill their container. */
  readonly height?: number;
  /** Place shown by the page: the part of the address after `#`. */
  readonly at?: string;
  /** Prepares the chat, once. */
  prepare?(world: World): void;
  /** Renders in place. */
  draw?(world: World): ReactNode;
  /** Opens a menu, dialog or card from a button. */
  open?(world: World, anchor: HTMLElement): ReactNode | Promise<ReactNode>;
}

/** Page at an address, without the conversation list. */
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
