import type { Narrow } from '@parley/chat';
import { useMemo } from 'react';
import { Messages as List, useConversation } from '../conversation/conversation-page.js';
import type { MessageCommands } from '../conversation/message-menu.js';
import { type PartProps, SmallPart } from '../element/part.js';
import type { Place } from '../element/place.js';
import { useAddress } from '../services/context.js';
import { reportFailure } from '../services/failures.js';

/** Messages of one conversation without an input field. */
export function Messages(props: PartProps & Place) {
  return (
    <SmallPart {...props}>
      <Current />
    </SmallPart>
  );
}

function Current() {
  const { address } = useAddress();
  return address?.view === 'narrow' && <Opened narrow={address.narrow} near={address.near} />;
}

function Opened({ narrow, near }: { readonly narrow: Narrow; readonly near: number | null }) {
  const view = useConversation(narrow, near);
  const commands = useMemo<MessageCommands>(
    () => ({
      write: null,
      quote: null,
      editFailed: null,
      markUnread: (message) => void view?.markUnreadFrom(message.id!).catch(reportFailure),
    }),
    [view],
  );
  return view && <List view={view} commands={commands} />;
}
