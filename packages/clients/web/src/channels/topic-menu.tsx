import { useLingui } from '@lingui/react';
import { type Destination, narrowOf, RESOLVED_PREFIX, type TopicPolicy } from '@parley/chat';
import { Check, Link, MailCheck, MoveRight, RotateCcw, Trash2 } from '../icons/icons.js';
import { Menu, MenuChoice, MenuItem, MenuLine } from '../kit/menu.js';
import { useOverlay } from '../kit/overlay.js';
import { useComputed, useServices } from '../services/context.js';
import { reportFailure } from '../services/failures.js';
import { copyLink } from '../services/location.js';
import { openOverlay } from '../services/overlay.js';
import { useReading } from '../services/use-reading.js';

interface Props {
  readonly place: Extract<Destination, { kind: 'channel' }>;
}

/** Topic commands allowed by the server's rules. */
export function TopicMenu({ place }: Props) {
  const { i18n } = useLingui();
  const { chat, baseUrl } = useServices();
  const { anchor } = useOverlay();
  const { channelId, topic } = place;
  const channel = useReading(chat.sidebar.channel(channelId));
  const policy = useComputed(() => chat.sidebar.policyOf(channelId, topic), [chat, channelId, topic]);
  const newest = useComputed(
    () => chat.sidebar.topics(channelId).value.find(({ name }) => name.toLowerCase() === topic.toLowerCase()),
    [chat, channelId, topic],
  );
  const move = chat.rights.canMoveIn(channelId);
  const isResolved = topic.startsWith(RESOLVED_PREFIX);
  const address = chat.formatAddress({ view: 'narrow', narrow: narrowOf(place), near: null });
  const policies: readonly { readonly value: TopicPolicy; readonly label: string }[] = [
    { value: 'muted', label: i18n._('Muted') },
    { value: 'none', label: i18n._('Default') },
    ...(channel?.isMuted || policy === 'unmuted' ? [{ value: 'unmuted' as const, label: i18n._('Unmuted') }] : []),
    { value: 'followed', label: i18n._('Followed') },
  ];
  return (
    <Menu label={i18n._('Topic actions')}>
      <MenuChoice
        label={i18n._('Notifications')}
        value={policy}
        options={policies}
        onChoose={(value) => chat.commands.setTopicPolicy(place, value).catch(reportFailure)}
      />
      <MenuLine />
      {(newest?.unread.count ?? 0) > 0 && (
        <MenuItem icon={MailCheck} onSelect={() => chat.commands.markNarrowRead(narrowOf(place)).catch(reportFailure)}>
          {i18n._('Mark all messages as read')}
        </MenuItem>
      )}
      {chat.rights.canResolve(channelId, topic) && (
        <MenuItem
          icon={isResolved ? RotateCcw : Check}
          onSelect={() => chat.commands.resolve(place, !isResolved).catch(reportFailure)}
        >
          {isResolved ? i18n._('Mark topic as unresolved') : i18n._('Mark topic as resolved')}
        </MenuItem>
      )}
      {(move.topic || move.channel) && (
        <MenuItem
          icon={MoveRight}
          onSelect={() =>
            openOverlay(anchor, async () => {
              const { MoveDialog } = await import('./move-dialog.js');
              return <MoveDialog place={place} messageId={null} />;
            })
          }
        >
          {i18n._('Move topic')}
        </MenuItem>
      )}
      <MenuItem icon={Link} onSelect={() => copyLink(baseUrl, address, i18n._('Link copied'))}>
        {i18n._('Copy link to topic')}
      </MenuItem>
      {chat.rights.canDeleteTopic(channelId) && (
        <>
          <MenuLine />
          <MenuItem
            icon={Trash2}
            isDangerous
            onSelect={() =>
              openOverlay(anchor, async () => {
                const { DeleteTopicDialog } = await import('./delete-topic-dialog.js');
                return <DeleteTopicDialog place={place} />;
              })
            }
          >
            {i18n._('Delete topic')}
          </MenuItem>
        </>
      )}
    </Menu>
  );
}
