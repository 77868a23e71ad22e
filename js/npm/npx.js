#!/usr/bin/env node
'use strict';
require('./lib/cli.js').main(['exec', ...process.argv.slice(2)], 'npx');
