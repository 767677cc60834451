import { type Choices, type Play, pick } from './choices.js';
import type { Company } from './company.js';
import { type StoredFile, textOf } from './model.js';
import { send } from './sending.js';
import { Violation } from './violation.js';

/** Uploads a file and sends a message that links to it. */
async function upload(company: Company, step: Choices): Promise<void> {
  const { model, time, engine } = company;
  const { by } = step;
  const number = model.newNumber();
  model.announce(number, by);
  const { status, json, body } = await company.insist(by, 'POST', '/user_uploads', {}, { file: textOf(number) });
  if (status !== 200) {
    if (!engine.isDiskFailing) throw new Violation('who may upload, uploads', `p${by}: ${body}`);
    return;
  }
  const path = json.url.slice('/user_uploads/'.length);
  const listed = (await company.insist(by, 'GET', '/attachments', {})).json.attachments ?? [];
  const entry = listed.find(({ path_id }: { path_id: string }) => path_id === path);
  if (!entry) throw new Violation('what was acknowledged exists', `p${by} does not have the file ${path}`);
  const file: StoredFile = {
    ...{ id: entry.id, path, number, owner: by, sentAt: time.now(), isDeleted: false },
    quotedFor: new Set(),
  };
  model.files.set(number, file);
  await send(company, step, undefined, file);
}

/** Uploads, downloads and deletions of files. */
export const FILE_ACTIONS = {
  upload: { weight: 3, play: upload },
  download: {
    weight: 4,
    play: async (company, { by, a }) => {
      const file = pick([...company.model.files.values()], a);
      if (file) await company.checkFile(by, file);
    },
  },
  deleteFile: {
    weight: 2,
    play: async (company, { by, a, b }) => {
      const { model } = company;
      const files = [...model.files.values()];
      const file = pick(b < 0.5 ? files : files.filter(({ owner }) => owner === by), a);
      if (!file) return;
      const { status } = await company.attempt(file.owner === by, by, 'DELETE', `/attachments/${file.id}`, {});
      const isDone = status === 200 || (company.mayHaveRepeated && file.owner === by);
      if (!isDone) return;
      file.isDeleted = true;
      model.removedPaths.add(file.path);
      for (const person of company.people.keys()) await company.checkFile(person, file);
    },
  },
} satisfies Readonly<Record<string, { readonly weight: number; readonly play: Play }>>;
