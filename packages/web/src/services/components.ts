import type { MessageRow } from '@parley/chat';
import { type ComponentType, createContext } from 'react';

/** Parts of the chat that a product may replace by its own. */
export interface Components {
  /** Content of a message. */
  readonly MessageBody: ComponentType<MessageBodyProps>;
  /** Picture of a person or an organization. */
  readonly Avatar: ComponentType<AvatarProps>;
}

export interface MessageBodyProps {
  readonly message: MessageRow;
  /** The server's HTML; words that were searched are marked. */
  readonly html: string;
}

export interface AvatarProps {
  readonly url: string | null;
  readonly name: string;
  /** Pixels. */
  readonly size: number;
}

export const ComponentsContext = createContext<Partial<Components>>({});
