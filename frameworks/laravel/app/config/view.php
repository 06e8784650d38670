<?php

return [
    'paths' => [],
];
