import { useLingui } from '@lingui/react';
import type { SavedSnippet } from '@parley/client';
import { useState } from 'react';
import { Pencil, Plus, Trash2 } from '../icons/icons.js';
import { Dialog, FormDialog } from '../kit/dialog.js';
import { IconButton } from '../kit/icon-button.js';
import { useOverlay } from '../kit/overlay.js';
import overlays from '../kit/overlays.module.css';
import { RowList } from '../kit/row-list.js';
import { useField, useServices } from '../services/context.js';
import { reportDone } from '../services/failures.js';
import styles from './snippets-dialog.module.css';

/** Limits of the server (users §18). */
const MAX_TITLE_LENGTH = 60;
const MAX_LENGTH = 10_000;

/** Number of snippets from which a search field is shown. */
const MANY = 8;

interface Props {
  /** Initial text of a new snippet. */
  readonly text: string;
  onInsert(text: string): void;
}

type Step = 'list' | 'new' | { readonly edit: SavedSnippet } | { readonly remove: SavedSnippet };

/** Inserts, adds, edits and deletes snippets. */
export function SnippetsDialog({ text, onInsert }: Props) {
  const { i18n } = useLingui();
  const { client } = useServices();
  const [step, setStep] = useState<Step>('list');
  if (step === 'list') return <SnippetList onInsert={onInsert} onStep={setStep} />;
  if (step === 'new') {
    return (
      <SnippetForm
        heading={i18n._('New snippet')}
        title=""
        content={text.trim()}
        onSave={(title, content) => client.post('/saved_snippets', { title, content })}
      />
    );
  }
  if ('edit' in step) {
    const { id, title, content } = step.edit;
    return (
      <SnippetForm
        heading={i18n._('Edit snippet')}
        title={title}
        content={content}
        onSave={async (newTitle, newContent) => {
          // Another window may have changed the other field.
          const changes = {
            ...(newTitle !== title && { title: newTitle }),
            ...(newContent !== content && { content: newContent }),
          };
          if (Object.keys(changes).length === 0) return;
          await client.patch('/saved_snippets/{saved_snippet_id}', { saved_snippet_id: id, ...changes });
        }}
      />
    );
  }
  const { id, title } = step.remove;
  return (
    <FormDialog
      title={i18n._('Delete this snippet?')}
      action={i18n._('Delete')}
      isDangerous
      onSubmit={() => client.delete('/saved_snippets/{saved_snippet_id}', { saved_snippet_id: id })}
    >
      <p className={styles.title}>{title}</p>
    </FormDialog>
  );
}

interface ListProps {
  onInsert(text: string): void;
  onStep(step: Step): void;
}

function SnippetList({ onInsert, onStep }: ListProps) {
  const { i18n } = useLingui();
  const { close } = useOverlay();
  const [query, setQuery] = useState('');
  const all = useField('saved_snippets') ?? [];
  const words = query.toLocaleLowerCase();
  const found = all
    .filter(({ title, content }) => `${title}\n${content}`.toLocaleLowerCase().includes(words))
    .sort((a, b) => a.title.localeCompare(b.title, i18n.locale));
  const byId = new Map(found.map((snippet) => [snippet.id, snippet]));
  return (
    <Dialog title={i18n._('Saved snippets')}>
      <div className={overlays.form}>
        {all.length >= MANY && (
          <input
            type="search"
            className={overlays.input}
            aria-label={i18n._('Search snippets')}
            placeholder={i18n._('Search snippets')}
            value={query}
            onChange={({ target }) => setQuery(target.value)}
          />
        )}
        {all.length === 0 && <p>{i18n._('Save texts that you write often, and insert them with two clicks.')}</p>}
        {all.length > 0 && found.length === 0 && <p role="status">{i18n._('No snippet contains this.')}</p>}
        {found.length > 0 && (
          <RowList keys={[...byId.keys()]} label={i18n._('Saved snippets')} rowHeight={60} maxHeight={360}>
            {(id) => {
              const snippet = byId.get(id)!;
              return (
                <div className={styles.row}>
                  <button
                    type="button"
                    className={styles.insert}
                    onClick={() => {
                      close();
                      onInsert(snippet.content);
                    }}
                  >
                    <span className={styles.title}>{snippet.title}</span>
                    <span className={styles.content}>{snippet.content}</span>
                  </button>
                  <IconButton icon={Pencil} label={i18n._('Edit')} onClick={() => onStep({ edit: snippet })} />
                  <IconButton icon={Trash2} label={i18n._('Delete')} onClick={() => onStep({ remove: snippet })} />
                </div>
              );
            }}
          </RowList>
        )}
        <footer className={overlays.buttons}>
          <button type="button" className={overlays.primary} onClick={() => onStep('new')}>
            <Plus size={16} aria-hidden /> {i18n._('New snippet')}
          </button>
        </footer>
      </div>
    </Dialog>
  );
}

interface FormProps {
  readonly heading: string;
  readonly title: string;
  readonly content: string;
  onSave(title: string, content: string): Promise<unknown>;
}

function SnippetForm({ heading, title: savedTitle, content: savedContent, onSave }: FormProps) {
  const { i18n } = useLingui();
  const [title, setTitle] = useState(savedTitle);
  const [content, setContent] = useState(savedContent);
  return (
    <FormDialog
      title={heading}
      action={i18n._('Save')}
      isDisabled={title.trim() === '' || content.trim() === ''}
      onSubmit={async () => {
        await onSave(title, content);
        reportDone(i18n._('Snippet saved'));
      }}
    >
      <label className={overlays.field}>
        {i18n._('Title')}
        <input maxLength={MAX_TITLE_LENGTH} value={title} onChange={({ target }) => setTitle(target.value)} />
      </label>
      <label className={overlays.field}>
        {i18n._('Text')}
        <textarea rows={6} maxLength={MAX_LENGTH} value={content} onChange={({ target }) => setContent(target.value)} />
      </label>
    </FormDialog>
  );
}
