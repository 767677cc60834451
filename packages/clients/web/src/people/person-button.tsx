import type { PersonRow } from '@parley/chat';
import type { ReactNode } from 'react';
import { Avatar } from '../kit/avatar.js';
import { openPersonCard } from './open-card.js';

interface Props {
  readonly person: PersonRow;
  /** Width of the avatar in pixels. */
  readonly size: number;
  readonly className: string | undefined;
  /** Content after the avatar. */
  readonly children: ReactNode;
}

/** Avatar of a person with texts; a click opens the person's card. */
export const PersonButton = ({ person, size, className, children }: Props) => (
  <button
    type="button"
    className={className}
    aria-haspopup="dialog"
    onClick={({ currentTarget }) => openPersonCard(currentTarget, person.id)}
  >
    <Avatar url={person.avatarUrl} name={person.name} size={size} />
    {children}
  </button>
);
