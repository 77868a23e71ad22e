// The timed subjects. Each returns calls by name, which throw if their result is wrong.

function expect(output, wanted) {
  if (String(output).trim() !== wanted) throw new Error(`expected ${wanted}, not ${JSON.stringify(output)}`);
}

const PRINT = 'print(1)';
const PANDAS = 'import pandas as pd; print(pd.DataFrame({"a": [1, 2]}).a.sum())';

export const SUBJECTS = {
  async wasibox() {
    const { Session } = await import('/web/index.js');
    const session = await Session.create({ baseUrl: '/web/' });
    const exec = async (what, wanted) => expect((await session.exec(what)).stdout, wanted);
    const python = async (code, wanted) => expect((await session.python(code)).stdout, wanted);
    return {
      'echo hi': () => exec('echo hi', 'hi'),
      'echo hi | wc -c': () => exec('echo hi | wc -c', '3'),
      'print(1), a process': () => exec(['python3', '-c', PRINT], '1'),
      'print(1), a cell': () => python(PRINT, '1'),
      'import pandas, a process': () => exec(['python3', '-c', PANDAS], '3'),
      'import pandas, a cell': () => python(PANDAS, '3'),
    };
  },

  async 'just-bash'() {
    const { Bash } = await import('/just-bash.js');
    const bash = new Bash();
    const exec = async (what, wanted) => expect((await bash.exec(what)).stdout, wanted);
    return { 'echo hi': () => exec('echo hi', 'hi'), 'echo hi | wc -c': () => exec('echo hi | wc -c', '3') };
  },

  async pyodide() {
    const { loadPyodide } = await import('/modules/pyodide/pyodide.mjs');
    let printed = '';
    const python = await loadPyodide({ indexURL: '/modules/pyodide/', stdout: (line) => (printed += line) });
    return {
      async 'print(1), a cell'() {
        printed = '';
        await python.runPythonAsync(PRINT);
        expect(printed, '1');
      },
    };
  },

  // This sandbox also runs our image.
  async '@wasmer/sdk'() {
    const { Wasmer } = await import('/modules/@wasmer/sdk/dist/index.js');
    const wasmer = new Wasmer();
    const image = new Uint8Array(await (await fetch('/image.webc')).arrayBuffer());
    const sandbox = await wasmer.sandboxes.create({ packages: [await wasmer.packages.load(image)] });
    const run = async (program, args, wanted) => {
      const { stdout } = await sandbox.command(program, args).run({ check: false });
      expect(new TextDecoder().decode(stdout.bytes.slice()), wanted);
    };
    return {
      'echo hi': () => run('bash', ['-c', 'echo hi'], 'hi'),
      'echo hi | wc -c': () => run('bash', ['-c', 'echo hi | wc -c'], '3'),
      'print(1), a process': () => run('python3', ['-c', PRINT], '1'),
      'import pandas, a process': () => run('python3', ['-c', PANDAS], '3'),
    };
  },
};
