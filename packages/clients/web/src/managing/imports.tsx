import { useLingui } from '@lingui/react';
import type { Import, ImportRun } from '@parley/client';
import { useCallback, useEffect } from 'react';
import { UploadList } from '../editor/upload-list.js';
import { Loading } from '../kit/loading.js';
import overlays from '../kit/overlays.module.css';
import { useField, useServices } from '../services/context.js';
import { reportFailure } from '../services/failures.js';
import type { Uploads } from '../services/uploads.js';
import { useManagement } from '../services/use-management.js';
import { useReading } from '../services/use-reading.js';
import { useUploads } from '../services/use-uploads.js';
import { Collection } from './collection.js';
import type { Setting } from './fields.js';
import { DangerousButton, type Values } from './form.js';
import styles from './managing.module.css';
import { useFetched } from './personal-lists.js';

const PLACE = 'import';
const REFRESH_MS = 2000;
const WITHOUT_MESSAGE = { files: [], onRemove: () => {}, onInsert: () => {}, onEmpty: () => {} };
const UNDER_WAY = ['checking', 'importing', 'running', 'undoing'];

/** Values of the dialog until its files are uploaded, also while another page is open. */
const waiting = new WeakMap<Uploads, Values>();

const filesIn = ({ file, people }: Values) => [file, people].filter((each) => each instanceof File);

/** Imports from other systems, for owners. */
export function Imports() {
  const { i18n } = useLingui();
  const { api } = useManagement();
  const uploads = useUploads();
  const fetch = useCallback(() => api.get('/realm/imports', {}), [api]);
  const [answer, reload] = useFetched(fetch);
  const { imports, run } = answer ?? { imports: [], run: null };
  const isUploading = useUploadedExport(reload);
  const isUnderWay = [run, ...imports].some((each) => each && UNDER_WAY.includes(each.status));
  useEffect(() => {
    if (!isUnderWay) return;
    const timer = setInterval(reload, REFRESH_MS);
    return () => clearInterval(timer);
  }, [isUnderWay, reload]);
  const settings = useSettings();
  if (!answer) return <Loading />;
  const countOf = ({ message_count: count }: Import) =>
    i18n._('{count, plural, one {# message} other {# messages}}', { count });
  const stateOf = (each: Import) => {
    if (each.status === 'running') return `${i18n._('in progress')} · ${countOf(each)}`;
    if (each.status === 'undoing') return i18n._('being undone');
    return each.status === 'undone' ? i18n._('undone') : countOf(each);
  };
  const mayAdd = answer.accepts_uploads && !isUploading && !(run && UNDER_WAY.includes(run.status));
  return (
    <>
      <UploadList destination={PLACE} {...WITHOUT_MESSAGE} />
      {run && <UploadedExport run={run} isAllowed={answer.accepts_uploads} onChange={reload} />}
      <Collection<Import>
        label={i18n._('Imports')}
        hint={
          answer.accepts_uploads
            ? i18n._('Message histories of other systems.')
            : i18n._('Message histories of other systems. The operator imports them by the command: parley import')
        }
        none={i18n._('There are no imports.')}
        items={imports}
        keyOf={({ id }) => id}
        nameOf={({ source }) => source}
        detailOf={(each) => (
          <>
            {i18n.date(new Date(each.started_at * 1000), { dateStyle: 'medium', timeStyle: 'short' })} · {stateOf(each)}
          </>
        )}
        {...(mayAdd && {
          add: {
            label: i18n._('Import an export'),
            action: i18n._('Upload'),
            settings,
            onSubmit: async (values: Values) => {
              waiting.set(uploads, values);
              uploads.add(PLACE, filesIn(values));
            },
          },
        })}
        remove={{
          action: i18n._('Undo'),
          text: i18n._(
            'All imported messages are deleted, except those that people answered, edited or reacted to. Earlier channels and groups get their former members back.',
          ),
          // Undoing again continues an interrupted undo, and cancels a running import.
          mayRemove: ({ status }) => status !== 'undone',
          onConfirm: async ({ id }) => {
            await api.post('/realm/imports/{import_id}/undo', { import_id: id });
            reload();
          },
        }}
      />
    </>
  );
}

/** Settings of the dialog. */
function useSettings(): readonly Setting[] {
  const { i18n } = useLingui();
  const max = useField('max_file_upload_size_mib') ?? 0;
  return [
    {
      ...{ name: 'file', label: i18n._('Export'), kind: 'file', accept: '' },
      hint: i18n._(
        'The export of Slack, Zulip, Mattermost, Rocket.Chat, Microsoft Teams or Discord, at most {max} MiB. A dry run follows the upload.',
        { max },
      ),
    },
    {
      ...{ name: 'people', label: i18n._('Accounts'), kind: 'file', accept: '.csv', isOptional: true },
      hint: i18n._('A CSV file with the columns person, email and name. Other people cannot log in.'),
    },
    {
      ...{ name: 'claim_by', label: i18n._('Accounts at the first log-in'), kind: 'text', isOptional: true },
      hint: i18n._('For example: email,keycloak'),
    },
    {
      ...{ name: 'share_public', label: i18n._('Keep public channels public'), kind: 'switch' },
      hint: i18n._('Otherwise they become private if some members could not read them before.'),
    },
  ];
}

/** Starts the dry run once the files are uploaded. Returns true while they are being uploaded. */
function useUploadedExport(reload: () => void): boolean {
  const { api } = useManagement();
  const uploads = useUploads();
  const { rows } = useReading(uploads.of(PLACE));
  const isUploading = rows.length > 0;
  useEffect(() => {
    const values = waiting.get(uploads);
    if (isUploading || !values) return;
    waiting.delete(uploads);
    const [path_id, people_path_id, ...others] = uploads
      .take(PLACE)
      .map(({ url }) => decodeURIComponent(url.slice(UPLOADS.length)));
    const { length } = filesIn(values);
    // A cancelled upload cancels the others.
    if (path_id === undefined || others.length > 0 || (people_path_id === undefined) !== (length === 1)) return;
    const { claim_by = '', share_public = false } = values as { claim_by?: string; share_public?: boolean };
    const people = people_path_id === undefined ? {} : { people_path_id };
    api
      .post('/realm/imports/run', { path_id, ...people, claim_by: claim_by.trim(), share_public })
      .then(reload, reportFailure);
  }, [api, uploads, isUploading, reload]);
  return isUploading;
}

const UPLOADS = '/user_uploads/';

interface UploadedExportProps {
  readonly run: NonNullable<ImportRun>;
  /** False if the operator turned imports of owners off. */
  readonly isAllowed: boolean;
  onChange(): void;
}

/** State of the uploaded export, with the report of its dry run or import. */
function UploadedExport({ run, isAllowed, onChange }: UploadedExportProps) {
  const { i18n } = useLingui();
  const { api } = useManagement();
  const { baseUrl } = useServices();
  const { name, status, report, report_path_id, problem } = run;
  const discard = () => api.delete('/realm/imports/run', {}).then(onChange);
  const states: Readonly<Record<string, string>> = {
    checking: i18n._('The dry run reads the export and changes nothing. You can leave this page.'),
    checked: i18n._('The dry run is complete. Nothing was changed yet.'),
    importing: i18n._('The export is being imported. You can leave this page.'),
    imported: i18n._('The export was imported.'),
    failed: i18n._('The import failed.'),
  };
  const mayStart = isAllowed && (status === 'checked' || (status === 'failed' && report !== null));
  return (
    <section className={styles.run} aria-label={name ?? i18n._('Export')}>
      <h3>{name ?? i18n._('Export')}</h3>
      <p role="status">{states[status]}</p>
      {problem !== null && <p role="alert">{problem}</p>}
      {report !== null && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboards must be able to scroll it.
        <section className={styles.report} aria-label={i18n._('Report')} tabIndex={0} dir="ltr">
          {report}
        </section>
      )}
      <div className={styles.headingButtons}>
        {report_path_id !== null && (
          <a href={new URL(`user_uploads/${report_path_id}`, baseUrl).href} download>
            {i18n._('Download the whole report')}
          </a>
        )}
        {status === 'checking' || status === 'importing' ? (
          <DangerousButton
            title={i18n._('Cancel the import?')}
            action={i18n._('Cancel the import')}
            text={i18n._('The export is deleted. Messages that were imported already stay until you undo the import.')}
            onConfirm={discard}
          >
            {i18n._('Cancel the import')}
          </DangerousButton>
        ) : (
          <button type="button" className={overlays.button} onClick={() => void discard().catch(reportFailure)}>
            {status === 'imported' ? i18n._('Close') : i18n._('Discard')}
          </button>
        )}
        {mayStart && (
          <button
            type="button"
            className={overlays.primary}
            onClick={() => void api.post('/realm/imports/run/start', {}).then(onChange, reportFailure)}
          >
            {status === 'failed' ? i18n._('Try again') : i18n._('Import')}
          </button>
        )}
      </div>
    </section>
  );
}
