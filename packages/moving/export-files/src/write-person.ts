import type { FileCopy, PersonMessage, PersonSource } from '@parley/transfer/exports';
import { indexPage, messagesPage } from './person-pages.js';
import { PERSON_SCHEMA } from './person-schema.js';
import { ZipWriter } from './zip-writer.js';

/** Messages in a page for reading. */
const MESSAGES_A_PAGE = 500;

/**
 * Yields a ZIP archive of everything stored about a person: lines of JSON for programs, and pages for readers. Only
 * one batch is in memory at a time.
 * @param rest awaited after every few messages so that other work can run
 */
export const writePerson = (source: PersonSource, rest: () => Promise<void>): AsyncGenerator<Uint8Array> =>
  new PersonWriter(source, rest).stream();

class PersonWriter extends ZipWriter {
  constructor(
    private readonly source: PersonSource,
    rest: () => Promise<void>,
  ) {
    super(new Date(source.account.exportedAt * 1000), rest);
  }

  protected async write(): Promise<void> {
    const { source } = this;
    await this.add('account.json', [JSON.stringify(source.account, null, 2)]);
    await this.add('schema.json', [JSON.stringify(PERSON_SCHEMA, null, 2)]);
    const avatar = await source.avatar();
    if (avatar?.content) await this.add('avatar.png', avatar.content);
    const counts = {
      channelMessages: await this.addLines('channel-messages.jsonl', source.channelMessages()),
      directMessages: await this.addLines('direct-messages.jsonl', source.directMessages()),
      reactions: await this.addLines('reactions.jsonl', source.reactions()),
      answers: await this.addLines('answers.jsonl', source.answers()),
      auditEntries: await this.addLines('audit.jsonl', source.auditEntries()),
      files: await this.addFiles(),
    };
    const pages = [
      ...(await this.addPages('Messages in channels', 'channel-messages', source.channelMessages())),
      ...(await this.addPages('Direct conversations', 'direct-messages', source.directMessages())),
    ];
    await this.add('index.html', [indexPage(source.account, counts, pages)]);
  }

  /** Returns the number of lines. */
  private async addLines(name: string, batches: AsyncIterable<readonly object[]>): Promise<number> {
    const { rest } = this;
    let count = 0;
    async function* lines() {
      for await (const batch of batches) {
        yield batch.map((line) => `${JSON.stringify(line)}\n`).join('');
        count += batch.length;
        await rest();
      }
    }
    await this.add(name, lines());
    return count;
  }

  private async addFiles(): Promise<number> {
    const lines: string[] = [];
    for await (const { file, messageIds, content } of this.source.files()) {
      const path = content ? pathOf(file) : null;
      lines.push(JSON.stringify({ ...file, messageIds, path }));
      if (path !== null && content) await this.add(path, content);
      await this.rest();
    }
    await this.add(
      'files.jsonl',
      lines.map((line) => `${line}\n`),
    );
    return lines.length;
  }

  /** Returns the names of the pages. */
  private async addPages(
    title: string,
    name: string,
    batches: AsyncIterable<readonly PersonMessage[]>,
  ): Promise<readonly string[]> {
    const names: string[] = [];
    let held: PersonMessage[] = [];
    const addPage = async () => {
      const path = `${name}-${names.length + 1}.html`;
      names.push(path);
      await this.add(path, [messagesPage(`${title}, page ${names.length}`, held)]);
      held = [];
      await this.rest();
    };
    for await (const batch of batches) {
      held.push(...batch);
      if (held.length >= MESSAGES_A_PAGE) await addPage();
    }
    if (held.length > 0) await addPage();
    return names;
  }
}

/** Name within the archive; safe on every file system, whatever the name of the file. */
export const pathOf = ({ id, name }: FileCopy['file']): string =>
  `files/${id}-${name.replace(/[^\w.-]+/g, '_').slice(-100)}`;
