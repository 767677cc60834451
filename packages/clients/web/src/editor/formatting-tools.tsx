import { useLingui } from '@lingui/react';
import type { Destination } from '@parley/chat';
import type { ReactNode } from 'react';
import type { Icon } from '../icons/icon.js';
import {
  Bold,
  ChartBarBig,
  Code,
  Ellipsis,
  Eye,
  EyeOff,
  ImagePlay,
  Italic,
  Link,
  List,
  ListChecks,
  ListOrdered,
  Maximize2,
  MessageCircleWarning,
  Minimize2,
  NotebookText,
  Radical,
  Smile,
  Strikethrough,
  Table,
  TextQuote,
  Video,
} from '../icons/icons.js';
import { IconButton } from '../kit/icon-button.js';
import { insertText } from '../kit/text-field.js';
import { useToolbar } from '../kit/toolbar.js';
import { useField, useServices } from '../services/context.js';
import { openOverlay } from '../services/overlay.js';
import type { UploadPlace } from '../services/uploads.js';
import styles from './composer.module.css';
import { AttachButton, applyEdit, insertLinks, type Preview } from './message-field.js';
import {
  type EditText,
  insertTable,
  toggleAsterisks,
  toggleCode,
  toggleLines,
  toggleMath,
  toggleSpoiler,
  toggleStrike,
} from './text-edits.js';

interface Props {
  readonly destination: Destination;
  readonly filesOf: UploadPlace;
  readonly text: string;
  readonly preview: Preview;
  /** True if the field is enlarged. */
  readonly isTall: boolean;
  onTall(isTall: boolean): void;
  /** False for texts that cannot become a poll or to-do list. */
  readonly hasWidgets?: boolean;
}

interface Action {
  readonly icon: Icon;
  readonly label: string;
  /** True if narrow fields show the button, too. */
  readonly isCommon?: boolean;
  readonly isDisabled?: boolean;
  readonly opens?: 'menu' | 'dialog';
  /** Key in the field, in `aria-keyshortcuts` form. */
  readonly shortcut?: string;
  run(anchor: HTMLElement): void;
}

/** Buttons that change the text. Narrow fields move the rare ones into a menu. */
export function FormattingTools(props: Props) {
  const { filesOf, text, preview } = props;
  const { i18n } = useLingui();
  const toolbar = useToolbar();
  const groups = [useMarks(props), useInsertions(props)].flat();
  const isSimple = useServices().tools === 'simple';
  const maxFileMib = useField('max_file_upload_size_mib');
  return (
    <div {...toolbar} className={styles.buttons} role="toolbar" aria-label={i18n._('Formatting')}>
      {maxFileMib !== 0 && <AttachButton destination={filesOf} onChosen={preview.enterField} />}
      <IconButton
        icon={Smile}
        label={i18n._('Insert emoji')}
        opens="dialog"
        onClick={({ currentTarget }) =>
          openOverlay(currentTarget, async () => {
            const { EmojiPicker } = await import('./emoji-picker.js');
            return (
              <EmojiPicker
                label={i18n._('Insert emoji')}
                hasTones
                onPick={({ emoji_name: name, character, isToned }) =>
                  insertText(preview.enterField(), `${isToned ? character : `:${name}:`} `)
                }
              />
            );
          })
        }
      />
      {!isSimple && (
        <>
          {groups.map((actions) => (
            <span className={styles.group} key={actions[0]!.label}>
              {actions.map(({ isCommon, run, ...action }) => (
                <span key={action.label} className={isCommon ? styles.common : styles.rare}>
                  <IconButton {...action} onClick={({ currentTarget }) => run(currentTarget)} />
                </span>
              ))}
            </span>
          ))}
          <span className={styles.more}>
            <IconButton
              icon={Ellipsis}
              label={i18n._('More formatting')}
              opens="menu"
              onClick={({ currentTarget }) => openActions(currentTarget, i18n._('More formatting'), groups)}
            />
          </span>
          <IconButton
            icon={preview.isShown ? EyeOff : Eye}
            label={preview.isShown ? i18n._('Edit') : i18n._('Preview')}
            isPressed={preview.isShown}
            isDisabled={text.trim() === ''}
            shortcut="Alt+P"
            onClick={preview.toggle}
          />
        </>
      )}
    </div>
  );
}

/** Opens a menu of all actions. */
const openActions = (anchor: HTMLElement, label: string, groups: readonly (readonly Action[])[]): void =>
  openOverlay(anchor, async () => {
    const { Menu, MenuItem, MenuLine } = await import('../kit/menu.js');
    const draw = (actions: readonly Action[], index: number): ReactNode => (
      <span key={actions[0]!.label}>
        {index > 0 && <MenuLine />}
        {actions.map(({ icon, label: name, isDisabled, shortcut, run }) =>
          isDisabled ? null : (
            // The closing menu moves the focus first.
            <MenuItem key={name} icon={icon} shortcut={shortcut} onSelect={() => setTimeout(() => run(anchor))}>
              {name}
            </MenuItem>
          ),
        )}
      </span>
    );
    return <Menu label={label}>{groups.map(draw)}</Menu>;
  });

/** Marks around the selection or before its lines. */
function useMarks({ preview }: Props): readonly (readonly Action[])[] {
  const { i18n } = useLingui();
  const mark = (icon: Icon, label: string, edit: EditText, isCommon = false): Action => ({
    icon,
    label,
    isCommon,
    run: () => applyEdit(preview.enterField(), edit),
  });
  const openLink = (anchor: HTMLElement) => {
    const { value, selectionStart, selectionEnd } = preview.enterField();
    openOverlay(anchor, async () => {
      const { LinkDialog } = await import('./insert-dialogs.js');
      const selected = value.slice(selectionStart, selectionEnd);
      return <LinkDialog text={selected} onInsert={(link) => insertText(preview.enterField(), link)} />;
    });
  };
  return [
    [
      { ...mark(Bold, i18n._('Bold'), toggleAsterisks('**'), true), shortcut: 'Control+B' },
      { ...mark(Italic, i18n._('Italic'), toggleAsterisks('*'), true), shortcut: 'Control+I' },
      mark(Strikethrough, i18n._('Strikethrough'), toggleStrike),
      {
        icon: Link,
        label: i18n._('Link'),
        isCommon: true,
        opens: 'dialog',
        shortcut: 'Control+Shift+L',
        run: openLink,
      },
    ],
    [
      mark(TextQuote, i18n._('Quote'), toggleLines('quote'), true),
      mark(List, i18n._('List'), toggleLines('list'), true),
      mark(ListOrdered, i18n._('Numbered list'), toggleLines('numbered')),
    ],
    [
      { ...mark(Code, i18n._('Code'), toggleCode, true), shortcut: 'Control+Shift+C' },
      mark(Radical, i18n._('Formula'), toggleMath),
      mark(MessageCircleWarning, i18n._('Spoiler'), toggleSpoiler),
      mark(Table, i18n._('Table'), insertTable(i18n._('Column'))),
    ],
  ];
}

/** Provider ids (organization §20). */
const JITSI = 1;
const BIG_BLUE_BUTTON = 4;

/** Polls, to-do lists, snippets, the size of the field and, if there is a provider, calls and GIFs. */
function useInsertions(props: Props) {
  const { destination, text, preview, isTall, onTall, hasWidgets = true } = props;
  const { i18n } = useLingui();
  const provider = useField('realm_video_chat_provider');
  const jitsi = useField('jitsi_server_url');
  const jitsiUrl = provider === JITSI && jitsi ? jitsi : null;
  const hasGifs = [useField('giphy_api_key'), useField('realm_gif_rating_policy')].every(Boolean);
  const insert = (markdown: string) => insertText(preview.enterField(), markdown);
  const openWidget = (anchor: HTMLElement, kind: 'poll' | 'todo') =>
    openOverlay(anchor, async () => {
      const { WidgetDialog } = await import('./insert-dialogs.js');
      return <WidgetDialog kind={kind} onInsert={insert} />;
    });
  const openSnippets = (anchor: HTMLElement) =>
    openOverlay(anchor, async () => {
      const { SnippetsDialog } = await import('./snippets-dialog.js');
      return <SnippetsDialog text={text} onInsert={insert} />;
    });
  const openCalls = (anchor: HTMLElement) =>
    openOverlay(anchor, async () => {
      const { CallMenu } = await import('./call-menu.js');
      const insertCall = (link: string) => insertLinks(preview.enterField(), link);
      return <CallMenu jitsiUrl={jitsiUrl} destination={destination} onInsert={insertCall} />;
    });
  const openGifs = (anchor: HTMLElement) =>
    openOverlay(anchor, async () => {
      const { GifDialog } = await import('./gif-dialog.js');
      return <GifDialog onInsert={(link) => insertLinks(preview.enterField(), link)} />;
    });
  // Widgets are whole messages.
  const widget = { isDisabled: text.trim() !== '', opens: 'dialog' } as const;
  const actions: readonly (Action | false)[] = [
    hasWidgets && {
      ...widget,
      icon: ChartBarBig,
      label: i18n._('Create a poll'),
      run: (anchor) => openWidget(anchor, 'poll'),
    },
    hasWidgets && {
      ...widget,
      icon: ListChecks,
      label: i18n._('Create a to-do list'),
      run: (anchor) => openWidget(anchor, 'todo'),
    },
    (provider === BIG_BLUE_BUTTON || jitsiUrl !== null) && {
      icon: Video,
      label: i18n._('Add a call'),
      isCommon: true,
      opens: 'menu',
      run: openCalls,
    },
    hasGifs && { icon: ImagePlay, label: i18n._('Add a GIF'), opens: 'dialog', run: openGifs },
    {
      icon: NotebookText,
      label: i18n._('Saved snippets'),
      isCommon: true,
      opens: 'dialog',
      isDisabled: preview.isShown,
      run: openSnippets,
    },
    {
      icon: isTall ? Minimize2 : Maximize2,
      label: isTall ? i18n._('Shrink the field') : i18n._('Enlarge the field'),
      isCommon: true,
      run: () => onTall(!isTall),
    },
  ];
  return [actions.filter((action) => action !== false)];
}
