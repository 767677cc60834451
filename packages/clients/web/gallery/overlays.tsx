import { MainMenu } from '../src/app/main-menu.js';
import { ChannelMenu } from '../src/channels/channel-menu.js';
import { ColorDialog } from '../src/channels/color-dialog.js';
import { DeleteTopicDialog } from '../src/channels/delete-topic-dialog.js';
import { MoveDialog } from '../src/channels/move-dialog.js';
import { TopicMenu } from '../src/channels/topic-menu.js';
import { MediaViewer } from '../src/content/media-viewer.js';
import { ForwardDialog } from '../src/conversation/finder.js';
import { HistoryDialog } from '../src/conversation/history-dialog.js';
import { MessageMenu } from '../src/conversation/message-menu.js';
import { ReactionsDialog } from '../src/conversation/reactions-dialog.js';
import { ReportDialog } from '../src/conversation/report-dialog.js';
import { AttachMenu } from '../src/editor/attach-menu.js';
import { CallMenu } from '../src/editor/call-menu.js';
import { DiscardDialog } from '../src/editor/discard-dialog.js';
import { EmojiPicker } from '../src/editor/emoji-picker.js';
import { GifDialog } from '../src/editor/gif-dialog.js';
import { LinkDialog, WidgetDialog } from '../src/editor/insert-dialogs.js';
import { ReminderDialog } from '../src/editor/reminder-dialog.js';
import { SendLaterDialog } from '../src/editor/schedule-dialog.js';
import { SnippetsDialog } from '../src/editor/snippets-dialog.js';
import { ReadAllDialog } from '../src/inbox/read-all-dialog.js';
import { openDirect, openHelp } from '../src/keyboard/commands.js';
import { Palette } from '../src/keyboard/palette.js';
import { ShortcutsDialog } from '../src/keyboard/shortcuts-dialog.js';
import { FormDialog } from '../src/kit/dialog.js';
import { EraseDialog } from '../src/managing/erase-person.js';
import { ValuesDialog } from '../src/managing/form.js';
import { InviteDialog } from '../src/managing/invite-dialog.js';
import { KeyDialog } from '../src/managing/key-dialog.js';
import { DirectDialog } from '../src/people/direct-dialog.js';
import { GroupCard } from '../src/people/group-card.js';
import { PersonCard } from '../src/people/person-card.js';
import { ReceiptsDialog } from '../src/people/receipts-dialog.js';
import { StatusDialog } from '../src/people/status-dialog.js';
import { ShareDialog } from '../src/phone/share-dialog.js';
import { DeviceNotificationsDialog } from '../src/push/device-notifications.js';
import { ChannelsMenu } from '../src/sidebar/channels-menu.js';
import { ViewsDialog } from '../src/sidebar/views-dialog.js';
import { type Exhibit, fail, GALLERY, LONG_TOPIC, nothing, succeed, VERONA } from './exhibit.js';
import { BASE_URL, messageId, personId, type World } from './world.js';

/** Row of a recorded message after its conversation was fetched. */
async function rowOf({ chat }: World, text: string) {
  const view = chat.open([{ operator: 'channel', operand: VERONA }]);
  const reading = chat.message(String(messageId(text)));
  return new Promise<NonNullable<ReturnType<typeof reading.peek>>>((resolve) => {
    const end = view.keys.subscribe(() => {
      const row = reading.peek();
      if (!row) return;
      resolve(row);
      queueMicrotask(() => end());
    });
  });
}

const COMMANDS = { write: nothing, quote: nothing, editFailed: nothing, markUnread: nothing };
const SHORT = messageId('Short, to');
const MEDIA = { kind: 'image', href: `${BASE_URL}picture.svg`, preview: null, title: 'a picture.png' } as const;
const GIFS = Array.from({ length: 24 }, (_, index) => {
  const url = `${BASE_URL}picture.svg`;
  return { id: String(index), title: `Moving picture ${index}`, url, previewUrl: url, stillUrl: null };
});

/** Menus, dialogs and cards that open from a button. */
export const OVERLAYS: readonly Exhibit[] = [
  { name: 'Reminder', open: () => <ReminderDialog messageId={SHORT} /> },
  { name: 'Link', open: () => <LinkDialog text="A selected text" onInsert={nothing} /> },
  { name: 'Discarding', open: () => <DiscardDialog onDiscard={nothing} /> },
  { name: 'New poll', open: () => <WidgetDialog kind="poll" onInsert={nothing} /> },
  { name: 'Snippets', open: () => <SnippetsDialog text="A text to be saved" onInsert={nothing} /> },
  { name: 'Snippets, empty', world: 'empty', open: () => <SnippetsDialog text="" onInsert={nothing} /> },
  { name: 'Views', open: () => <ViewsDialog /> },
  { name: 'Views, empty', world: 'empty', open: () => <ViewsDialog /> },
  { name: 'Send later', open: () => <SendLaterDialog destination={GALLERY} text="Later" onScheduled={nothing} /> },
  {
    name: 'Message menu, own',
    open: async (w) => <MessageMenu message={await rowOf(w, 'Heading')} commands={COMMANDS} />,
  },
  {
    name: 'Message menu, of others',
    world: 'member',
    open: async (w) => <MessageMenu message={await rowOf(w, 'Short, to')} commands={COMMANDS} />,
  },
  { name: 'Edit history', open: () => <HistoryDialog messageId={messageId('Heading')} /> },
  { name: 'Edit history, failing', world: 'failing', open: () => <HistoryDialog messageId={1} /> },
  { name: 'Edit history, loading', world: 'loading', open: () => <HistoryDialog messageId={1} /> },
  {
    name: 'Reactions',
    open: async (world) => {
      await rowOf(world, 'Short, to');
      return <ReactionsDialog messageKey={String(SHORT)} />;
    },
  },
  { name: 'Read receipts', open: () => <ReceiptsDialog messageId={SHORT} /> },
  { name: 'Read receipts, failing', world: 'failing', open: () => <ReceiptsDialog messageId={SHORT} /> },
  { name: 'Report', open: () => <ReportDialog messageId={SHORT} /> },
  { name: 'Emoji', open: () => <EmojiPicker label="Emoji" onPick={nothing} /> },
  { name: 'Call', open: () => <CallMenu jitsiUrl={null} destination={GALLERY} onInsert={nothing} /> },
  { name: 'GIFs', open: () => <GifDialog find={async () => GIFS} onInsert={nothing} /> },
  { name: 'GIFs, none found', open: () => <GifDialog find={async () => []} onInsert={nothing} /> },
  { name: 'GIFs, failing', open: () => <GifDialog find={fail} onInsert={nothing} /> },
  { name: 'GIFs, loading', open: () => <GifDialog find={() => new Promise(nothing)} onInsert={nothing} /> },
  { name: 'Topic menu', open: () => <TopicMenu place={GALLERY} /> },
  { name: 'Add channels', open: () => <ChannelsMenu /> },
  { name: 'Invite people', open: () => <InviteDialog isLink={false} /> },
  { name: 'Erase a person', open: () => <EraseDialog userId={personId('King')} /> },
  { name: 'Channel menu', open: () => <ChannelMenu channelId={VERONA} /> },
  { name: 'Main menu', open: () => <MainMenu onLogOut={nothing} /> },
  { name: 'Move topic', open: () => <MoveDialog place={{ ...GALLERY, topic: LONG_TOPIC }} messageId={null} /> },
  { name: 'Move message', open: () => <MoveDialog place={GALLERY} messageId={SHORT} /> },
  { name: 'Delete topic', open: () => <DeleteTopicDialog place={{ ...GALLERY, topic: LONG_TOPIC }} /> },
  { name: 'Colour of a channel', open: () => <ColorDialog channelId={VERONA} /> },
  { name: 'Mark all as read', open: () => <ReadAllDialog /> },
  {
    name: 'Palette',
    open: (_, anchor) => <Palette anchor={anchor} onLogOut={undefined} openHelp={openHelp} openDirect={openDirect} />,
  },
  { name: 'Attach files', open: () => <AttachMenu onChoose={nothing} onPhoto={nothing} /> },
  { name: 'Shared files', open: () => <ShareDialog text="A link" files={[]} /> },
  { name: 'Forwarding', open: () => <ForwardDialog text="A quote" write={nothing} /> },
  { name: 'Shortcuts', open: () => <ShortcutsDialog /> },
  { name: 'New conversation', open: () => <DirectDialog /> },
  { name: 'Person', open: () => <PersonCard userId={personId('King')} /> },
  { name: 'Person with a long name', open: () => <PersonCard userId={personId('Max')} /> },
  { name: 'Person from right to left', open: () => <PersonCard userId={personId('אבנר')} /> },
  { name: 'Bot', open: () => <PersonCard userId={personId('Report bot')} /> },
  { name: 'Oneself', open: ({ chat }) => <PersonCard userId={chat.state.selfId} /> },
  { name: 'Unknown person', open: () => <PersonCard userId={99_999} /> },
  {
    name: 'Group',
    open: ({ chat }) => <GroupCard groupId={chat.state.groups.values().find(({ name }) => name === 'chorus')!.id} />,
  },
  { name: 'Status', open: () => <StatusDialog /> },
  { name: 'Status, empty', world: 'empty', open: () => <StatusDialog /> },
  { name: 'Notifications on this device', open: () => <DeviceNotificationsDialog /> },
  { name: 'API key', open: () => <KeyDialog asksPassword read={fail} replace={succeed as never} /> },
  { name: 'API key of a bot', open: () => <KeyDialog read={() => Promise.resolve('a1b2'.repeat(8))} replace={fail} /> },
  {
    name: 'Viewer',
    open: () => <MediaViewer all={[MEDIA, { ...MEDIA, title: 'second.png' }]} start={MEDIA.href} />,
  },
  {
    name: 'Question',
    open: () => (
      <FormDialog title="Delete this?" action="Delete" isDangerous onSubmit={fail}>
        <p>It cannot be undone.</p>
      </FormDialog>
    ),
  },
  {
    name: 'Several values',
    open: () => (
      <ValuesDialog
        title="Add a thing"
        action="Add"
        settings={[{ name: 'name', label: 'Name', hint: 'What people see', kind: 'text' }]}
        onSubmit={fail}
      />
    ),
  },
  {
    name: 'Dialog with a long title',
    open: () => (
      <FormDialog title={LONG_TOPIC} action="An action with a long name" isDangerous isDisabled onSubmit={fail}>
        <p>{'Long text. '.repeat(80)}</p>
      </FormDialog>
    ),
  },
];
