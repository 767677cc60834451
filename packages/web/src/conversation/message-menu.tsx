import { useLingui } from '@lingui/react';
import { type MessageRow as Message, narrowOf } from '@parley/chat';
import {
  AlarmClock,
  Check,
  Eye,
  Flag,
  History,
  Link,
  MailOpen,
  MoveRight,
  RotateCcw,
  SmilePlus,
  Trash2,
} from 'lucide-react';
import { copyLink } from '../channels/copy-link.js';
import { Menu, MenuItem, MenuLine } from '../kit/menu.js';
import { useOverlay } from '../kit/own-overlay.js';
import { useServices } from '../services/context.js';
import { reportFailure } from '../services/failures.js';
import { openOverlay } from '../services/overlay.js';
import type { MessageCommands } from './message-commands.js';

interface Props {
  readonly message: Message;
  readonly commands: MessageCommands;
}

/** Rarer actions on a message: what the server's rules allow. */
export function MessageMenu({ message, commands }: Props) {
  const { i18n } = useLingui();
  const { chat, baseUrl } = useServices();
  const { anchor } = useOverlay();
  const id = message.id!;
  const { destination } = message;
  const { rights } = chat;
  const move = rights.canMove(id);
  const topic = destination.kind === 'channel' ? destination : null;
  const isResolved = topic?.topic.startsWith('✔ ') === true;
  const wasChanged = message.editedAt !== null || message.movedAt !== null;
  return (
    <Menu label={i18n._('More actions')}>
      <MenuItem icon={MailOpen} onSelect={() => commands.markUnread(message)}>
        {i18n._('Mark as unread from here')}
      </MenuItem>
      <MenuItem
        icon={Link}
        onSelect={() =>
          copyLink(baseUrl, chat.formatAddress({ view: 'narrow', narrow: narrowOf(destination), near: id }))
        }
      >
        {i18n._('Copy link to message')}
      </MenuItem>
      <MenuItem
        icon={AlarmClock}
        onSelect={() =>
          openOverlay(anchor, async () => {
            const { ReminderDialog } = await import('./reminder-dialog.js');
            return <ReminderDialog messageId={id} />;
          })
        }
      >
        {i18n._('Remind me about this…')}
      </MenuItem>
      {message.reactions.length > 0 && (
        <MenuItem
          icon={SmilePlus}
          onSelect={() =>
            openOverlay(anchor, async () => {
              const { ReactionsDialog } = await import('./reactions-dialog.js');
              return <ReactionsDialog messageKey={message.key} />;
            })
          }
        >
          {i18n._('See who reacted')}
        </MenuItem>
      )}
      {rights.canSeeReceipts && (
        <MenuItem
          icon={Eye}
          onSelect={() =>
            openOverlay(anchor, async () => {
              const { ReceiptsDialog } = await import('../people/receipts-dialog.js');
              return <ReceiptsDialog messageId={id} />;
            })
          }
        >
          {i18n._('View read receipts')}
        </MenuItem>
      )}
      {wasChanged && rights.canSeeHistory && (
        <MenuItem
          icon={History}
          onSelect={() =>
            openOverlay(anchor, async () => {
              const { HistoryDialog } = await import('./history-dialog.js');
              return <HistoryDialog messageId={id} />;
            })
          }
        >
          {i18n._('View edit history')}
        </MenuItem>
      )}
      {topic && (move.topic || move.channel) && (
        <MenuItem
          icon={MoveRight}
          onSelect={() =>
            openOverlay(anchor, async () => {
              const { MoveDialog } = await import('../channels/move-dialog.js');
              return <MoveDialog place={topic} messageId={id} />;
            })
          }
        >
          {i18n._('Move messages')}
        </MenuItem>
      )}
      {topic && rights.canResolve(topic.channelId, topic.topic) && (
        <MenuItem
          icon={isResolved ? RotateCcw : Check}
          onSelect={() => chat.commands.resolve(topic, !isResolved).catch(reportFailure)}
        >
          {isResolved ? i18n._('Mark topic as unresolved') : i18n._('Mark topic as resolved')}
        </MenuItem>
      )}
      {rights.canReport(id) && (
        <MenuItem
          icon={Flag}
          onSelect={() =>
            openOverlay(anchor, async () => {
              const { ReportDialog } = await import('./report-dialog.js');
              return <ReportDialog messageId={id} />;
            })
          }
        >
          {i18n._('Report this message…')}
        </MenuItem>
      )}
      {rights.canDelete(id) && (
        <>
          <MenuLine />
          <MenuItem
            icon={Trash2}
            isDangerous
            onSelect={() =>
              openOverlay(anchor, async () => {
                const { FormDialog } = await import('../kit/dialog.js');
                return (
                  <FormDialog
                    title={i18n._('Delete this message?')}
                    action={i18n._('Delete')}
                    isDangerous
                    onSubmit={() => chat.commands.delete(id)}
                  >
                    <p>{i18n._('It disappears for everyone and cannot be restored.')}</p>
                  </FormDialog>
                );
              })
            }
          >
            {i18n._('Delete')}
          </MenuItem>
        </>
      )}
    </Menu>
  );
}
