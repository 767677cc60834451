import { useEffect, useMemo, useRef } from 'react';
import { MessageBody } from '../src/components/message-body.js';
import { Composer } from '../src/conversation/composer.js';
import { OtherDrafts } from '../src/conversation/other-drafts.js';
import { TypingLine } from '../src/conversation/typing-line.js';
import { Warnings } from '../src/conversation/warnings.js';
import { Writable } from '../src/conversation/writable.js';
import { Completion } from '../src/editor/completion.js';
import { DestinationHeading } from '../src/editor/destination-heading.js';
import MessageEditor from '../src/editor/message-editor.js';
import { AttachButton } from '../src/editor/message-field.js';
import ScheduledEditor from '../src/editor/scheduled-editor.js';
import { UploadList } from '../src/editor/upload-list.js';
import { ComponentsContext } from '../src/services/components.js';
import { useReading } from '../src/services/use-reading.js';
import { type Exhibit, GALLERY, LONG_TOPIC, nothing, page, VERONA } from './exhibit.js';
import { channelId, messageId, personId, type World } from './world.js';

const to = (topic: string) => ({ ...GALLERY, topic });

/** Suggestions for a text with the cursor at its end. */
function Completing({ text }: { readonly text: string }) {
  const field = useRef<HTMLTextAreaElement>(null);
  const handle = useRef<{ onSelect(): void }>(null);
  useEffect(() => {
    field.current!.setSelectionRange(text.length, text.length);
    handle.current!.onSelect();
  }, [text]);
  return (
    <div style={{ paddingBlockStart: 260 }}>
      <div style={{ position: 'relative' }}>
        <Completion field={field} text={text} destination={GALLERY} ref={handle as never} />
        <textarea ref={field} aria-label="Message" defaultValue={text} style={{ width: '100%' }} />
      </div>
    </div>
  );
}

function Drafts({ drafts }: World) {
  const draft = useMemo(() => drafts.open(to('two drafts')), [drafts]);
  return <OtherDrafts draft={draft} onUse={nothing} />;
}

function Editing({ chat, text, field }: World & { readonly text: string; readonly field: string }) {
  const view = useMemo(() => chat.open([{ operator: 'channel', operand: VERONA }]), [chat]);
  useEffect(() => () => view.close(), [view]);
  useReading(view.keys);
  const message = useReading(chat.message(String(messageId(text))));
  return (
    message && (
      <MessageEditor message={message} field={field} takesFocus={false} onOpen={nothing} onClose={nothing}>
        Text of the message
      </MessageEditor>
    )
  );
}

const REPLACED = {
  Message: ({ message, body }: { message: { sender: { name: string } }; body: React.ReactNode }) => (
    <div>
      {message.sender.name}: {body}
    </div>
  ),
};

/** Parts of a conversation. */
export const CONVERSATION: readonly Exhibit[] = [
  { name: 'composer, empty', draw: () => <Composer destination={to('composer')} /> },
  {
    name: 'composer with a text',
    prepare: ({ drafts }) => drafts.add(to('full'), 'Text with\nseveral **lines**\n'.repeat(4)),
    draw: () => <Composer destination={to('full')} />,
  },
  {
    name: 'composer to a long name',
    draw: () => <Composer destination={{ kind: 'direct', userIds: ['Max', 'אבנר', 'King'].map(personId) }} />,
  },
  {
    name: 'files on their way',
    prepare: ({ uploads }) => {
      const large = new File([], 'a film of the whole day with a long name.mp4');
      Object.defineProperty(large, 'size', { value: 2 ** 40 });
      uploads.opened!.add(to('files'), [
        new File(['x'], 'refused.txt'),
        new File(['x'], 'sending.txt'),
        new File(['x'], 'waiting.txt'),
        new File([], 'empty.txt'),
        new File(['x'], 'waits too.txt'),
        large,
      ]);
    },
    draw: () => (
      <UploadList
        destination={to('files')}
        files={[
          { name: 'a picture.png', url: '/user_uploads/1/a/a-picture.png' },
          { name: 'report of the year with a long name.pdf', url: '/user_uploads/1/b/report.pdf' },
        ]}
        onRemove={() => {}}
        onInsert={() => {}}
        onEmpty={() => {}}
      />
    ),
  },
  {
    name: 'composer with files',
    prepare: ({ drafts }) =>
      drafts.add(
        to('with files'),
        'The pictures of the journey\n\n[beach.png](/user_uploads/1/a/beach.png)\n[route.pdf](/user_uploads/1/b/route.pdf)\n[tower.png](/user_uploads/1/c/tower.png)',
      ),
    draw: () => <Composer destination={to('with files')} />,
  },
  {
    name: 'composer with quotes',
    prepare: ({ drafts }) =>
      drafts.add(to('with quotes'), '> The train leaves at nine.\n\n```quote\nשלום\n```\n\nI take the next one'),
    draw: () => <Composer destination={to('with quotes')} />,
  },
  { name: 'button for files', draw: () => <AttachButton destination={GALLERY} onChosen={() => {}} /> },
  {
    name: 'two drafts of one conversation',
    prepare: ({ drafts }) => {
      drafts.add(to('two drafts'), `A text of another window. ${'It is long. '.repeat(12)}`);
      drafts.add(to('two drafts'), 'Short');
      drafts.add(to('two drafts'), 'שלום');
      drafts.add(to('two drafts'), 'The fourth');
      drafts.add(to('two drafts'), 'The fifth');
    },
    draw: (world) => <Drafts {...world} />,
  },
  {
    name: 'warnings',
    draw: () => <Warnings destination={GALLERY} text="@**all** and @**Report bot** and @**Zoe**" />,
  },
  ...['@', '#', ':gr', '/', '```py'].map((text) => ({
    name: `suggestions for ${text}`,
    draw: () => <Completing text={text} />,
  })),
  {
    name: 'editor of a message',
    prepare: ({ fieldTexts }) => fieldTexts.begin('edit in the gallery', 'Text of the **message**'),
    draw: (world) => <Editing {...world} text="Heading" field="edit in the gallery" />,
  },
  {
    name: 'message with a kept edit',
    prepare: ({ fieldTexts }) => fieldTexts.set('edit kept in the gallery', 'Another **text**'),
    draw: (world) => <Editing {...world} text="Heading" field="edit kept in the gallery" />,
  },
  {
    name: 'editor of a scheduled message',
    height: 360,
    prepare: ({ fieldTexts }) => fieldTexts.begin('scheduled in the gallery', 'Text of the **message**'),
    draw: ({ chat }) => (
      <ScheduledEditor
        message={chat.field('scheduled_messages')![0]!}
        field="scheduled in the gallery"
        takesFocus={false}
        onEnd={nothing}
      />
    ),
  },
  {
    name: 'people who type',
    prepare: ({ chat }) => {
      for (const name of ['King', 'Max', 'Cordelia']) {
        const sender = { user_id: personId(name), email: '' };
        const place = { stream_id: VERONA, topic: 'gallery', message_type: 'stream' } as const;
        chat.receive({ type: 'typing', op: 'start', id: 1, sender, ...place } as never);
      }
    },
    draw: () => <TypingLine destination={GALLERY} />,
  },
  { name: 'heading', draw: () => <DestinationHeading destination={to(LONG_TOPIC)} /> },
  {
    name: 'heading of a search result',
    draw: () => <DestinationHeading destination={GALLERY} match={'<span class="highlight">gal</span>lery'} />,
  },
  {
    name: 'nobody may write here',
    world: 'member',
    draw: () => (
      <Writable channelId={channelId('announce')}>
        <Composer destination={GALLERY} />
      </Writable>
    ),
  },
  {
    name: 'messages that fail and wait',
    at: `narrow/channel/${VERONA}-Verona/topic/outbox`,
    height: 460,
    prepare: ({ chat }) => {
      chat.send(to('outbox'), 'This one is refused');
      chat.send(to('outbox'), `This one is refused too. ${'It is long. '.repeat(30)}`);
    },
    draw: page('', '').draw!,
  },
  {
    name: 'messages that a product draws',
    at: `narrow/channel/${VERONA}-Verona/topic/gallery`,
    height: 500,
    draw: () => (
      <ComponentsContext.Provider value={REPLACED as never}>
        {page('', '').draw!({} as never)}
      </ComponentsContext.Provider>
    ),
  },
  {
    name: 'content with everything unusual',
    draw: () => (
      <MessageBody
        html={
          '<p>Text <unknown>of an unknown element</unknown>, <span class="user-mention silent" data-user-id="99999">nobody</span> <span class="user-group-mention" data-user-group-id="3">@everybody</span> <span class="user-mention" data-user-id="*">@all</span></p>' +
          '<div class="message_inline_image"><a href="https://elsewhere.example/p.png"><img src="https://elsewhere.example/p.png"></a></div>' +
          '<p><del>old</del> <em>new</em></p><hr><ul><li>One</li></ul><h2>Heading</h2>' +
          '<audio controls preload="metadata" src="/user_uploads/1/a/sound.mp3" title="sound.mp3"></audio>'
        }
      />
    ),
  },
  {
    name: 'link previews',
    draw: () => (
      <MessageBody
        html={
          '<p>Two pages</p>' +
          pagePreview(
            'picture.svg',
            'A title that is too long for one line, also on a wide screen, and still goes on',
          ) +
          pagePreview('https://elsewhere.example/p.png', 'A page with a picture of another server')
        }
      />
    ),
  },
];

/** HTML of a preview as the server writes it. */
function pagePreview(picture: string, title: string): string {
  const href = 'https://www.a.example/page';
  return (
    `<div class="message_embed"><a class="message_embed_image" href="${href}" style="background-image: url(&quot;${picture}&quot;)"></a>` +
    `<div class="data-container"><div class="message_embed_title"><a href="${href}" title="${title}">${title}</a></div>` +
    '<div class="message_embed_description">What the page says about itself, in one or two sentences that are cut.</div></div></div>'
  );
}
