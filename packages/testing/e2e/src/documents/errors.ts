import { DomainError, type ErrorCode } from '@parley/domain/kernel';
import { ERROR_REPLIES } from '@parley/http';
import { sourcesOf } from './sources.js';

/** Titles of the domain's areas, in the order of the page. */
const TITLES = {
  kernel: 'General, event queues and the host application',
  access: 'Authentication, permissions and confirmations',
  realms: 'Organizations',
  users: 'Users and their lists',
  membership: 'Joining, accounts and bots',
  'log-in': 'Log-in methods, directories, tokens and visits',
  groups: 'Groups',
  channels: 'Channels',
  messages: 'Messages',
  writing: 'Sending, changing and scheduling messages',
  files: 'Emoji, images and files',
  exports: 'Exports',
  push: 'Notifications and incoming email',
};

const DECLARATION = /declareErrors\(\{\n([\s\S]*?)\n\}\)/g;
const CODE = /(?:\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n)?^ {2}([A-Z_]+): '\w+',$/gm;

/** Generates the tables of docs/errors.md from the declared codes and their comments in the folder `packages`. */
export function renderErrors(packages: string): string {
  const domain = sourcesOf(packages, 'domain');
  const renderArea = (area: string, title: string): string => {
    const texts = domain.filter(({ file }) => file.startsWith(`${area}/`)).map(({ text }) => text);
    const rows = texts.flatMap((text) => [...text.matchAll(DECLARATION)].flatMap(([, codes = '']) => rowsOf(codes)));
    return [`## ${title}`, '', '| Code | Status | API | When |', '|---|---|---|---|', ...rows].join('\n');
  };
  return Object.entries(TITLES)
    .map(([area, title]) => renderArea(area, title))
    .join('\n\n');
}

const rowsOf = (codes: string): readonly string[] =>
  [...codes.matchAll(CODE)].map(([, comment, code]) => {
    if (comment === undefined) throw new Error(`The error code ${code} has no comment, which docs/errors.md needs.`);
    const text = comment
      .replace(/\s*\n \*/g, '')
      .replace(/\s*\*?\s+/g, ' ')
      .trim()
      .replace(/\.$/, '');
    const error = new DomainError(code as ErrorCode, '');
    const wire = ERROR_REPLIES.wireErrorOf(error);
    const isUsual = wire.status === 400 && wire.code === 'BAD_REQUEST';
    return `| \`${code}\` | ${error.status} | ${isUsual ? '' : `${wire.status} \`${wire.code}\``} | ${text} |`;
  });
