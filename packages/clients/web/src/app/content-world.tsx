import { useLingui } from '@lingui/react';
import type { Chat } from '@parley/chat';
import { useMemo } from 'react';
import type { ContentWorld } from '../content/message-body.js';
import type { Mention } from '../content/tree.js';
import { timeText } from '../editor/times.js';
import { groupName } from '../people/group-name.js';
import { openPersonCard } from '../people/open-card.js';
import { useServices } from '../services/context.js';
import { openOverlay } from '../services/overlay.js';
import { useReading } from '../services/use-reading.js';

/** Context for message content in the user's chat. */
export function useContentWorld(): ContentWorld {
  const { chat, baseUrl, linkTarget = '_blank' } = useServices();
  const { i18n } = useLingui();
  const isReady = useReading(chat.isReady);
  // biome-ignore lint/correctness/useExhaustiveDependencies: groups and names are known once the state is there.
  return useMemo(
    () => ({
      baseUrl,
      linkTarget,
      userName: (id) => chat.people.person(id).peek().name || undefined,
      groupName: (id) => {
        const group = chat.state.groups.peek(id);
        return group && groupName(group, i18n);
      },
      concernsMe: (mention) => concerns(chat, mention),
      openMention: ({ kind, id }, anchor) => (kind === 'group' ? openGroupCard : openPersonCard)(anchor, id!),
      formatTime: (date) => timeText(i18n, date.getTime() / 1000),
    }),
    [chat, baseUrl, linkTarget, i18n, isReady],
  );
}

function concerns({ state }: Chat, { kind, id }: Mention): boolean {
  if (kind === 'user') return id === state.selfId;
  return kind !== 'group' || state.groups.peek(id!)?.members.includes(state.selfId) === true;
}

/** Opens a group card next to the element that names it. */
const openGroupCard = (anchor: HTMLElement, groupId: number): void =>
  openOverlay(anchor, async () => {
    const { GroupCard } = await import('../people/group-card.js');
    return <GroupCard groupId={groupId} />;
  });
