import { createLogger } from './logger.js';

describe('createLogger', () => {
  function capture(level: Parameters<typeof createLogger>[0]) {
    const lines: string[] = [];
    const logger = createLogger(level, { write: (line) => lines.push(line) });
    return { logger, parsed: () => lines.map((line) => JSON.parse(line)), text: () => lines.join('') };
  }

  it('writes one object per line in order, including the first lines', async () => {
    const { logger, parsed } = capture('info');
    logger.info({ route: '/messages' }, 'one');
    logger.error({ err: new Error('broken') }, 'two');
    await logger.close();
    logger.info({}, 'three');
    expect(parsed()).toMatchObject([
      { level: 'info', msg: 'one', route: '/messages' },
      { level: 'error', msg: 'two', err: { message: 'broken', stack: expect.stringContaining('logger.test') } },
      { level: 'info', msg: 'three' },
    ]);
  });

  it('redacts secrets in fields at any depth', async () => {
    const { logger, text } = capture('info');
    const secrets = {
      authorization: 's3cret',
      password: 's3cret',
      api_key: 's3cret',
      apiKey: 's3cret',
      token: 's3cret',
    };
    logger.info(
      { ...secrets, request: { ...secrets, headers: { ...secrets, host: { secret: 's3cret' } } } },
      'request',
    );
    await logger.close();
    expect(text()).toContain('[hidden]');
    expect(text()).not.toContain('s3cret');
  });

  it.each`
    level       | messages
    ${'debug'}  | ${['thought', 'said', 'warned', 'failed']}
    ${'info'}   | ${['said', 'warned', 'failed']}
    ${'warn'}   | ${['warned', 'failed']}
    ${'error'}  | ${['failed']}
    ${'silent'} | ${[]}
  `('logs $messages at level $level', async ({ level, messages }) => {
    const { logger, parsed } = capture(level);
    logger.debug({}, 'thought');
    logger.info({}, 'said');
    logger.warn({}, 'warned');
    logger.error({}, 'failed');
    await logger.close();
    expect(parsed().map(({ msg }) => msg)).toEqual(messages);
  });
});
