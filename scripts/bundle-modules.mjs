// Turns a split ESM bundle into the modules that src/bundle/loader.ts runs: Node 20 keeps bytecode of scripts, not of ES modules.
import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { transform } from 'esbuild';
import ts from 'typescript';

/** As long as `import`, so that source maps stand. */
const LOAD = '__load';
const WRAPPER = { banner: '(function (exports, require, module, __url, __load) { "use strict";', footer: '})' };

/** Only a parser tells `import(` of a program from that of a text. */
function withoutImportCalls(code) {
  if (!/\bimport\s*\(/.test(code)) return code;
  const places = [];
  const file = ts.createSourceFile('module.js', code, ts.ScriptTarget.Latest, false, ts.ScriptKind.JS);
  const visit = (node) => {
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
      places.push(node.expression.getStart(file));
    ts.forEachChild(node, visit);
  };
  visit(file);
  let text = code;
  for (const at of places) text = text.slice(0, at) + LOAD + text.slice(at + LOAD.length);
  return text;
}

/** @param files esbuild's output files, with their maps inline. @param from their folder. @param to folder of the modules. */
export async function writeModules(files, from, to) {
  for (const { path, text } of files) {
    const name = relative(from, path).replace(/\.js$/, '');
    const { code, map } = await transform(withoutImportCalls(text), {
      ...WRAPPER,
      format: 'cjs',
      platform: 'node',
      target: 'node20',
      minifyWhitespace: true,
      minifySyntax: true,
      sourcemap: 'external',
      sourceRoot: '../', // a folder deeper than the bundle was
      sourcefile: path,
      define: { 'import.meta.url': '__url', 'import.meta.resolve': 'undefined' },
      logLevel: 'warning',
    });
    const out = join(to, `${name}.cjs`);
    mkdirSync(dirname(out), { recursive: true });
    writeFileSync(out, `${code}//# sourceMappingURL=${basename(out)}.map\n`);
    writeFileSync(`${out}.map`, map);
  }
}
